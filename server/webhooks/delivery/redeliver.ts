import type { EntityManager } from '../../database/entity-manager/entity-manager.ts';
import { prepareStatement } from '../../database/queries/prepared-statement.ts';
import { createInvalidRequestProblem, createProblem } from '../../http/problem-details/problem.ts';

// Restarts the retry schedule. Because `attempts` is incremented, the result of an attempt in flight is ignored.
const again = (which: string): string => `
  update webhook_deliveries set status = 'pending', tries = 0, attempts = attempts + 1, next_attempt_at = now(), finished_at = null
   where endpoint_id = $1 and ${which} returning id`;
const redeliverOne = prepareStatement<{ id: number }>('redeliver_event', again('seq = $2'));
const redeliverRange = prepareStatement<{ id: number }>(
  'redeliver_events',
  again(`seq >= $2 and ($3::bigint is null or seq <= $3) and (status in ('failed', 'skipped') or ($4 and status = 'succeeded'))`),
);

type RedeliverySelection = {
  readonly event_id?: number | undefined;
  readonly from_event_id?: number | undefined;
  readonly to_event_id?: number | undefined;
  readonly include_succeeded?: boolean | undefined;
};

/** Queues deliveries again, in the transaction of the request, and returns their number. */
export async function queueRedeliveries(em: EntityManager, endpointId: number, selection: RedeliverySelection): Promise<number> {
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
  if (id === undefined) return (await redeliverRange(em, [endpointId, from, to ?? null, all])).length;
  const found = await redeliverOne(em, [endpointId, id]);
  if (found.length === 0)
    throw createProblem('not_found', { detail: `Event ${id} was not intended for this endpoint, or has been deleted.` });
  return found.length;
}
