import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
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
import { registerQueueMetrics } from './queue-metrics.ts';
import { registerRequestMetrics } from './request-metrics.ts';
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
  #updateQueueMetrics: () => Promise<void> = () => Promise.resolve();

  constructor(log: Log) {
    this.#log = log;
    collectDefaultMetrics({ register: this.#registry });
  }

  /** @param base the issuer's path, which route labels do not contain */
  watchRequests(server: Server, base: string): void {
    server.prependListener('request', registerRequestMetrics(this.#registry, base));
  }

  watchQueues(em: EntityManager): void {
    this.#updateQueueMetrics = registerQueueMetrics(this.#registry, em, this.#log);
  }

  /** Serves `GET /metrics` in the Prometheus text format; returns a function that stops the server. */
  async serve(address: { readonly host: string; readonly port: number }): Promise<() => Promise<void>> {
    const server = createServer((req, res) => {
      if (req.method === 'GET' && req.url?.split('?', 1)[0] === '/metrics') void this.#sendMetrics(res);
      else res.writeHead(404).end();
    });
    server.listen(address);
    await once(server, 'listening');
    return async () => {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    };
  }

  async #sendMetrics(res: ServerResponse): Promise<void> {
    try {
      await this.#updateQueueMetrics();
      const text = await this.#registry.metrics();
      res.writeHead(200, { 'Content-Type': this.#registry.contentType, 'Cache-Control': 'no-store' }).end(text);
    } catch (error) {
      this.#log.error({ err: error }, 'metrics could not be collected');
      res.writeHead(500).end();
    }
  }
}
