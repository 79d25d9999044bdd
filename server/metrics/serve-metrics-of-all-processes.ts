import { AggregatorRegistry, collectDefaultMetrics, Registry } from '@prometheus-io/client';
import type { Log } from '../logging/logger.ts';
import { serveMetrics, type MetricsAddress } from './serve-metrics.ts';

/**
 * Serves the sums of the metrics of the supervisor and its server processes. Returns a function that stops the server.
 */
export function serveMetricsOfAllProcesses(address: MetricsAddress, log: Log): Promise<() => Promise<void>> {
  const own = new Registry();
  collectDefaultMetrics({ register: own });
  AggregatorRegistry.setRegistries(own);
  const all = new AggregatorRegistry();
  return serveMetrics(address, async () => ({ text: await all.clusterMetrics(), contentType: all.contentType }), log);
}
