import type { Em } from '../../database/entity-manager/entity-manager.ts';
import { statement } from '../../database/queries/prepared-statement.ts';
import { invalidRequest, problem } from '../../http/problem-details/problem.ts';

// A fresh row of tries; whoever is at it at this moment goes on, and counts for nothing.
const again = (which: string): string => `
  update webhook_deliveries set status = 'pending', tries = 0, attempts = attempts + 1, next_attempt_at = now(), finished_at = null
   where endpoint_id = $1 and ${which} returning id`;
const one = statement<{ id: number }>('redeliver_event', again('seq = $2'));
const range = statement<{ id: number }>(
  'redeliver_events',
  again(`seq >= $2 and ($3::bigint is null or seq <= $3) and (status in ('failed', 'skipped') or ($4 and status = 'succeeded'))`),
);

type Asked = {
  readonly event_id?: number | undefined;
  readonly from_event_id?: number | undefined;
  readonly to_event_id?: number | undefined;
  readonly include_succeeded?: boolean | undefined;
};

/** Puts deliveries back into the queue, in the transaction of the request; how many those are. */
export async function redeliver(em: Em, endpointId: number, asked: Asked): Promise<number> {
  const { event_id: id, from_event_id: from, to_event_id: to, include_succeeded: all = false } = asked;
  if ((id === undefined) === (from === undefined) || (id !== undefined && (to !== undefined || asked.include_succeeded !== undefined))) {
    const detail = 'Give either event_id, or from_event_id and what belongs to it.';
    throw invalidRequest({ in: 'body', pointer: '#/event_id', code: 'conflicting_fields', detail });
  }
  if (from !== undefined && to !== undefined && from > to) {
    const detail = 'from_event_id must not be after to_event_id.';
    throw invalidRequest({ in: 'body', pointer: '#/from_event_id', code: 'conflicting_fields', detail });
  }
  if (id === undefined) return (await range(em, [endpointId, from, to ?? null, all])).length;
  const found = await one(em, [endpointId, id]);
  if (found.length === 0) throw problem('not_found', { detail: `Event ${id} was never meant for this endpoint, or is no longer kept.` });
  return found.length;
}
