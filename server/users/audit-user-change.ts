import type { AuditAction, User as UserBody } from '@mandate/contract';
import type { Request } from 'express';
import { recordAuditEvent, sourceOf } from '../audit/record-audit-event.ts';
import type { Em } from '../database/entity-manager/entity-manager.ts';
import { principalOf } from '../http/request/request-context.ts';

type Standing = Pick<UserBody, 'status' | 'role'>;

const actions: Record<UserBody['status'], AuditAction> = {
  active: 'account.reactivated',
  suspended: 'account.suspended',
  closed: 'account.closed',
};

/** Writes down that somebody may do more or less than before, and who saw to it. */
export async function auditUserChange(
  em: Em,
  req: Pick<Request, 'ip' | 'headers'>,
  before: Standing,
  user: Standing & { id: number },
): Promise<void> {
  const { user: actor, clientId } = principalOf(req);
  const about = { actorId: actor?.id, clientId, userId: user.id };
  const [source, now] = [sourceOf(req), new Date()];
  if (user.status !== before.status) await recordAuditEvent(em, source, { ...about, action: actions[user.status] }, now);
  if (user.role === before.role) return;
  await recordAuditEvent(em, source, { ...about, action: 'account.role_changed', details: { from: before.role, to: user.role } }, now);
}
