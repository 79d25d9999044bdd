import type { EntityManager } from '../../../server/database/entity-manager/entity-manager-type.ts';
import { deleteExpiredOauthRecordsBatch } from '../../../server/oauth/storage/delete-expired-and-orphaned-oauth-rows.sql.ts';
import { cases } from '../../bench/cases/benchmark-cases.ts';
import { measureLatencyAtRate, measureThroughput } from '../../bench/measurements/run-load.ts';
import type { BenchmarkEnvironment } from '../../bench/servers/benchmark-environment.ts';

/** 99th percentile of the response time for new orders, in milliseconds, during maintenance work in PostgreSQL. */
export type MaintenanceLatency = {
  readonly calmMs: number;
  readonly vacuumMs: number;
  readonly deletionMs: number;
  /** Number of expired tokens that were deleted in the meantime. */
  readonly deletedTokens: number;
};

/** Fraction of the maximum throughput at which orders are placed. */
const loadShare = 0.5;

/** Measures the response times of new orders during VACUUM of the largest tables, and while expired tokens are deleted. */
export async function measureMaintenance(
  environment: BenchmarkEnvironment,
  em: EntityManager,
  { seconds, connections, report }: { readonly seconds: number; readonly connections: number; readonly report: (progress: string) => void },
): Promise<MaintenanceLatency> {
  const target = await environment.target('mandate');
  const { origin } = target.measuredServer;
  const placeOrders = cases.find(({ name }) => name === 'create-order');
  if (!placeOrders) throw new Error('there is no case create-order');
  const { perSecond } = await measureThroughput(origin, await placeOrders.traffic(target), connections, seconds);
  const measureWhile = async (title: string, work: (signal: AbortSignal) => Promise<void>): Promise<number> => {
    report(title);
    const traffic = await placeOrders.traffic(target);
    const finished = new AbortController();
    const working = work(finished.signal);
    const { p99Ms } = await measureLatencyAtRate(origin, traffic, connections, seconds, perSecond * loadShare);
    finished.abort();
    await working;
    return p99Ms;
  };
  const calmMs = await measureWhile('orders without other work', async () => {});
  const vacuumMs = await measureWhile('orders during VACUUM', async (signal) => {
    while (!signal.aborted) for (const table of ['orders', 'order_items', 'events', 'oauth_records']) await em.execute(`vacuum ${table}`);
  });
  await em.execute(`update oauth_records set expires_at = now() - interval '1 hour' where payload = '{}'`);
  let deletedTokens = 0;
  const deletionMs = await measureWhile('orders during the deletion of expired tokens', async (signal) => {
    for (let deleted = 1; !signal.aborted && deleted > 0; deletedTokens += deleted)
      deleted = await deleteExpiredOauthRecordsBatch(em, new Date());
  });
  return { calmMs, vacuumMs, deletionMs, deletedTokens };
}
