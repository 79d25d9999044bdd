import type { AuditAction } from '@mandate/contract';
import { recordAuditEvent, getClientAddressAndUserAgent } from '../audit/record-audit-event.ts';
import type { EntityManager } from '../database/entity-manager/entity-manager-type.ts';
import { requirePrincipal } from '../http/request/request-context-principal-and-access-log.ts';

/** Returns an application's path in the API. */
export const getApplicationPath = (id: number): string => `/api/v1/applications/${id}`;

/** Records an application change in the audit log, in the transaction that makes the change. */
export async function auditApplicationChange(
  em: EntityManager,
  req: Parameters<typeof getClientAddressAndUserAgent>[0],
  action: AuditAction,
  clientId: string,
  details: Record<string, readonly string[]> = {},
): Promise<void> {
  const { user, clientId: actingClientId } = requirePrincipal(req);
  await recordAuditEvent(
    em,
    getClientAddressAndUserAgent(req),
    { action, actorId: user?.id, clientId: actingClientId, subject: `application:${clientId}`, details },
    new Date(),
  );
}
