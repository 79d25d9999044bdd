import type { Server } from 'node:http';
import { collectDefaultMetrics, Registry } from '@prometheus-io/client';
import type { EntityManager } from '../database/entity-manager/entity-manager-type.ts';
import type { ReplicaWithPrimaryFallback } from '../database/replica/replica-with-primary-fallback.ts';
import type { DiskSpaceMonitor } from '../database/storage/disk-space-monitor.ts';
import type { LoadShedder } from '../http/server/load-shedder.ts';
import type { Log } from '../logging/logger.ts';
import type { OnTokenOperation } from '../oauth/provider/report-token-operations.ts';
import {
  type DatabaseMetrics,
  registerDatabaseMetrics,
  registerReplicaUsageMetrics,
  registerDiskSpaceMetrics,
} from './database-disk-and-replica-metrics.ts';
import { registerLoadShedderMetrics } from './load-shedder-metrics.ts';
import { sendMetricsToSupervisor } from './metrics-of-all-processes.ts';
import { registerQueueAndDatabaseUpMetrics } from './queue-and-database-up-metrics.ts';
import { registerRequestMetrics } from './request-metrics.ts';
import { serveMetrics, type MetricsAddress } from './serve-metrics.ts';
import { registerTokenMetrics } from './token-metrics.ts';

/** The Prometheus metrics of this process. */
export class PrometheusMetrics {
  readonly #registry = new Registry();
  /** Options that make `openDatabaseWithoutMigrating` report connections and statements to the metrics. */
  readonly database: DatabaseMetrics = registerDatabaseMetrics(this.#registry);
  readonly watchLoad: (guard: LoadShedder) => void = registerLoadShedderMetrics(this.#registry);
  readonly watchReplica: (replica: ReplicaWithPrimaryFallback) => void = registerReplicaUsageMetrics(this.#registry);
  readonly watchStorage: (storage: DiskSpaceMonitor) => void = (storage) => registerDiskSpaceMetrics(this.#registry, storage);
  readonly onTokenOperation: OnTokenOperation = registerTokenMetrics(this.#registry);
  readonly #log: Log;

  constructor(log: Log) {
    this.#log = log;
    collectDefaultMetrics({ register: this.#registry });
  }

  /** @param base path of the issuer URL, which is omitted from the route labels */
  watchRequests(server: Server, base: string): void {
    server.prependListener('request', registerRequestMetrics(this.#registry, base));
  }

  watchQueues(em: EntityManager): void {
    registerQueueAndDatabaseUpMetrics(this.#registry, em, this.#log);
  }

  /** Serves the metrics of this process. Returns a function that stops the server. */
  serve(address: MetricsAddress): Promise<() => Promise<void>> {
    const registry = this.#registry;
    return serveMetrics(address, async () => ({ text: await registry.metrics(), contentType: registry.contentType }), this.#log);
  }

  /** Sends the metrics of this process to the supervisor, which serves them. Returns a function that sends the last values. */
  sendToSupervisor(): () => Promise<void> {
    return sendMetricsToSupervisor(this.#registry);
  }
}
