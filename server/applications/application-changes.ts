import type { AuditAction } from '@mandate/contract';
import { recordAuditEvent, sourceOf } from '../audit/record-audit-event.ts';
import type { Em } from '../database/entity-manager/entity-manager.ts';
import { principalOf } from '../http/request/request-context.ts';

export const applicationLocation = (id: number): string => `/api/v1/applications/${id}`;

/** Writes an audit event in the transaction of the change. */
export async function recordApplicationChange(
  em: Em,
  req: Parameters<typeof sourceOf>[0],
  action: AuditAction,
  clientId: string,
  details: Record<string, readonly string[]> = {},
): Promise<void> {
  const { user, clientId: through } = principalOf(req);
  await recordAuditEvent(
    em,
    sourceOf(req),
    { action, actorId: user?.id, clientId: through, subject: `application:${clientId}`, details },
    new Date(),
  );
}
