import type { InferEntity } from '@mikro-orm/core';
import type { AuditEvent as AuditEventBody } from '@mandate/contract';
import type { EntityManager } from '../database/entity-manager/entity-manager-type.ts';
import { createKeysetPageFilter } from '../http/response/keyset-page-filter.ts';
import type { KeysetPosition } from '../http/response/pagination.ts';
import { AuditEvent } from './audit-event.entity.ts';

type AuditEventEntity = InferEntity<typeof AuditEvent>;

export type AuditFilters = {
  readonly userId?: number | undefined;
  readonly actorId?: number | undefined;
  readonly clientId?: string | undefined;
  readonly action?: readonly AuditEventBody['action'][] | undefined;
  readonly outcome?: AuditEventBody['outcome'] | undefined;
  readonly occurredAtGte?: string | undefined;
  readonly occurredAtLt?: string | undefined;
};

/** Returns the matching audit events, newest first. If there is a next page, the result has `limit + 1` events. */
export function listAuditEvents(
  em: EntityManager,
  filters: AuditFilters,
  position: KeysetPosition | undefined,
  limit: number,
): Promise<AuditEventEntity[]> {
  const where = { $and: [filterConditions(filters), createKeysetPageFilter('occurredAt', position, 'desc')] };
  const options = { orderBy: { occurredAt: 'desc', id: 'desc' }, limit: limit + 1, disableIdentityMap: true } as const;
  return em.find(AuditEvent, where, options);
}

/** Returns an audit event's API representation. */
export const auditEventFromEntity = (event: AuditEventEntity): AuditEventBody => ({
  id: event.id,
  occurred_at: event.occurredAt.toISOString(),
  action: event.action,
  outcome: event.outcome,
  actor_id: event.actorId ?? null,
  user_id: event.userId ?? null,
  client_id: event.clientId ?? null,
  subject: event.subject ?? null,
  ip: event.ip ?? null,
  user_agent: event.userAgent ?? null,
  details: event.details,
});

const filterConditions = ({ userId, actorId, clientId, action, outcome, occurredAtGte, occurredAtLt }: AuditFilters) => ({
  $and: [
    ...(userId === undefined ? [] : [{ userId }]),
    ...(actorId === undefined ? [] : [{ actorId }]),
    ...(clientId === undefined ? [] : [{ clientId }]),
    ...(action === undefined ? [] : [{ action: { $in: [...action] } }]),
    ...(outcome === undefined ? [] : [{ outcome }]),
    ...(occurredAtGte === undefined ? [] : [{ occurredAt: { $gte: new Date(occurredAtGte) } }]),
    ...(occurredAtLt === undefined ? [] : [{ occurredAt: { $lt: new Date(occurredAtLt) } }]),
  ],
});
