import { prepareStatement } from '../../database/queries/prepared-statement.ts';

// SQL, because the names of these statements make `event-signals.ts` wake the delivery worker after the commit.
// Restarts the retry schedule. Because `attempts` is incremented, the result of any in-flight attempt is ignored.
const restartDeliveriesSql = (condition: string): string => `
  update webhook_deliveries set status = 'pending', tries = 0, attempts = attempts + 1, next_attempt_at = now(), finished_at = null
   where endpoint_id = $1 and ${condition} returning id`;

export const redeliverEvent = prepareStatement<{ id: number }>('redeliver_event', restartDeliveriesSql('seq = $2'));
export const redeliverEvents = prepareStatement<{ id: number }>(
  'redeliver_events',
  restartDeliveriesSql(
    `seq >= $2 and ($3::bigint is null or seq <= $3) and (status in ('failed', 'skipped') or ($4 and status = 'succeeded'))`,
  ),
);
