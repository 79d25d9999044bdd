import { type FilterQuery, type InferEntity, sql } from '@mikro-orm/core';
import type { EntityManager } from '../../database/entity-manager/entity-manager-type.ts';
import { createInvalidRequestProblem, createProblem } from '../../http/problem-details/problem.ts';
import { translatable } from '../../http/problem-details/translatable-text.ts';
import { emitEventSignalAfterCommit } from '../../events/event-signals.ts';
import { WebhookDelivery } from '../endpoints/webhook-endpoint-and-delivery.entity.ts';

type RedeliverySelection = {
  readonly event_id?: number | undefined;
  readonly from_event_id?: number | undefined;
  readonly to_event_id?: number | undefined;
  readonly include_succeeded?: boolean | undefined;
};

/** Queues deliveries again in the request's transaction, and returns the number of queued deliveries. */
export async function queueRedeliveries(em: EntityManager, endpointId: number, selection: RedeliverySelection): Promise<number> {
  const { event_id: id, from_event_id: from, to_event_id: to, include_succeeded: all = false } = selection;
  if (
    (id === undefined) === (from === undefined) ||
    (id !== undefined && (to !== undefined || selection.include_succeeded !== undefined))
  ) {
    const detail = 'Send only `event_id`, or send `from_event_id`, optionally with `to_event_id` and `include_succeeded`.';
    throw createInvalidRequestProblem({ in: 'body', pointer: '#/event_id', code: 'conflicting_fields', detail });
  }
  if (from !== undefined && to !== undefined && from > to) {
    const detail = '`from_event_id` must not be after `to_event_id`.';
    throw createInvalidRequestProblem({ in: 'body', pointer: '#/from_event_id', code: 'conflicting_fields', detail });
  }
  if (id === undefined) {
    const seq = { ...(from !== undefined && { $gte: from }), ...(to !== undefined && { $lte: to }) };
    const status = { $in: ['failed', 'skipped', ...(all ? (['succeeded'] as const) : [])] } as const;
    return restartDeliveries(em, { endpoint: endpointId, seq, status });
  }
  const restarted = await restartDeliveries(em, { endpoint: endpointId, seq: id });
  if (restarted === 0)
    throw createProblem('not_found', { detail: translatable`Event ${{ id }} was not intended for this endpoint, or has been deleted.` });
  return restarted;
}

/** Restarts the retry schedule. Because `attempts` is incremented, the result of any in-flight attempt is ignored. */
async function restartDeliveries(em: EntityManager, where: FilterQuery<InferEntity<typeof WebhookDelivery>>): Promise<number> {
  const values = { status: 'pending', tries: 0, attempts: sql`attempts + 1`, nextAttemptAt: sql.now(), finishedAt: null } as const;
  const restarted = await em.nativeUpdate(WebhookDelivery, where, values);
  if (restarted > 0) await emitEventSignalAfterCommit(em, 'placed');
  return restarted;
}
