import { recordAuditEvent, type RequestSource } from '../audit/record-audit-event.ts';
import type { EntityManager } from '../database/entity-manager/entity-manager-type.ts';
import type { ShopBranding } from './default-branding.ts';
import { lockCheckAndStoreBranding, type BrandingChange } from './read-and-write-branding.ts';

type Actor = { readonly source: RequestSource; readonly actorId: number | undefined; readonly clientId?: string };

/**
 * Changes the branding and records the change in the audit log.
 * @param check called with the current branding after its row has been locked; throws if the caller expects a different version
 */
export function changeBrandingAndAudit(
  em: EntityManager,
  { source, actorId, clientId }: Actor,
  change: BrandingChange,
  check?: (current: ShopBranding) => void,
): Promise<ShopBranding> {
  return em.transactional(async (inner) => {
    let previousVersion: number | undefined;
    const branding = await lockCheckAndStoreBranding(inner, change, (current) => {
      check?.(current);
      previousVersion = current.version;
    });
    const event = { action: 'branding.changed', actorId, clientId, details: { fields: Object.keys(change) } } as const;
    if (branding.version !== previousVersion) await recordAuditEvent(inner, source, event, new Date());
    return branding;
  });
}
