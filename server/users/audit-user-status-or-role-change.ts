import type { AuditAction, User as UserBody } from '@mandate/contract';
import type { Request } from 'express';
import { recordAuditEvent, getClientAddressAndUserAgent } from '../audit/record-audit-event.ts';
import type { EntityManager } from '../database/entity-manager/entity-manager-type.ts';
import { requirePrincipal } from '../http/request/request-context-principal-and-access-log.ts';

type StatusAndRole = Pick<UserBody, 'status' | 'role'>;

const actions: Record<UserBody['status'], AuditAction> = {
  active: 'account.reactivated',
  suspended: 'account.suspended',
  closed: 'account.closed',
};

/** Records a change to a user's status or role in the audit log, with the actor. */
export async function auditUserStatusOrRoleChange(
  em: EntityManager,
  req: Pick<Request, 'ip' | 'headers'>,
  before: StatusAndRole,
  user: StatusAndRole & { id: number },
): Promise<void> {
  const { user: actor, clientId } = requirePrincipal(req);
  const about = { actorId: actor?.id, clientId, userId: user.id };
  const [source, now] = [getClientAddressAndUserAgent(req), new Date()];
  if (user.status !== before.status) await recordAuditEvent(em, source, { ...about, action: actions[user.status] }, now);
  if (user.role === before.role) return;
  await recordAuditEvent(em, source, { ...about, action: 'account.role_changed', details: { from: before.role, to: user.role } }, now);
}
