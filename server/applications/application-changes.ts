import type { AuditAction } from '@mandate/contract';
import { recordAuditEvent, getRequestSource } from '../audit/record-audit-event.ts';
import type { EntityManager } from '../database/entity-manager/entity-manager.ts';
import { requirePrincipal } from '../http/request/request-context.ts';

/** Returns an application's path. */
export const applicationLocation = (id: number): string => `/api/v1/applications/${id}`;

/** Records an application change in the audit log, in the transaction that makes the change. */
export async function recordApplicationChange(
  em: EntityManager,
  req: Parameters<typeof getRequestSource>[0],
  action: AuditAction,
  clientId: string,
  details: Record<string, readonly string[]> = {},
): Promise<void> {
  const { user, clientId: actingClientId } = requirePrincipal(req);
  await recordAuditEvent(
    em,
    getRequestSource(req),
    { action, actorId: user?.id, clientId: actingClientId, subject: `application:${clientId}`, details },
    new Date(),
  );
}
