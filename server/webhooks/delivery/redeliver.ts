import { type FilterQuery, type InferEntity, sql } from '@mikro-orm/core';
import type { EntityManager } from '../../database/entity-manager/entity-manager.ts';
import { createInvalidRequestProblem, createProblem } from '../../http/problem-details/problem.ts';
import { WebhookDelivery } from '../endpoints/webhook.entity.ts';

type RedeliverySelection = {
  readonly event_id?: number | undefined;
  readonly from_event_id?: number | undefined;
  readonly to_event_id?: number | undefined;
  readonly include_succeeded?: boolean | undefined;
};

/** Queues deliveries again, in the transaction of the request, and returns their number. */
export async function queueRedeliveries(em: EntityManager, endpoint: number, selection: RedeliverySelection): Promise<number> {
  const { event_id: id, from_event_id: from, to_event_id: to, include_succeeded: all = false } = selection;
  if (
    (id === undefined) === (from === undefined) ||
    (id !== undefined && (to !== undefined || selection.include_succeeded !== undefined))
  ) {
    const detail = 'Send either `event_id`, or `from_event_id` with its optional fields.';
    throw createInvalidRequestProblem({ in: 'body', pointer: '#/event_id', code: 'conflicting_fields', detail });
  }
  if (from !== undefined && to !== undefined && from > to) {
    const detail = 'from_event_id must not be after to_event_id.';
    throw createInvalidRequestProblem({ in: 'body', pointer: '#/from_event_id', code: 'conflicting_fields', detail });
  }
  if (id === undefined) {
    const seq = { $gte: from ?? 0, ...(to !== undefined && { $lte: to }) };
    return restartDeliveries(em, { endpoint, seq, status: { $in: ['failed', 'skipped', ...(all ? ['succeeded' as const] : [])] } });
  }
  const count = await restartDeliveries(em, { endpoint, seq: id });
  if (count === 0) throw createProblem('not_found', { detail: `Event ${id} was not intended for this endpoint, or has been deleted.` });
  return count;
}

/** Restarts the retry schedule. Because `attempts` is incremented, the result of an attempt in flight is ignored. */
function restartDeliveries(em: EntityManager, where: FilterQuery<InferEntity<typeof WebhookDelivery>>): Promise<number> {
  const [attempts, nextAttemptAt] = [sql`attempts + 1`, sql.now()];
  return em.nativeUpdate(WebhookDelivery, where, { status: 'pending', tries: 0, attempts, nextAttemptAt, finishedAt: null });
}
