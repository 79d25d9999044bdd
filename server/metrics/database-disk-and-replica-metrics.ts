import { Counter, Gauge, Histogram, type Registry } from '@prometheus-io/client';
import type { Pool } from 'pg';
import type { ReplicaWithPrimaryFallback } from '../database/replica/replica-with-primary-fallback.ts';
import type { DiskSpaceMonitor } from '../database/storage/disk-space-monitor.ts';
import type { MessageObserver } from '../database/connection/create-pipelined-statement-sender.ts';

export type DatabaseMetrics = { readonly onPool: (pool: Pool) => void; readonly onMessage: MessageObserver };

/** Registers the metrics for the PostgreSQL connection pools. The embedded database has a single connection and no pool. */
export function registerDatabaseMetrics(registry: Registry): DatabaseMetrics {
  const pools: Pool[] = [];
  const sumOverPools = (count: (pool: Pool) => number): number => pools.reduce((total, pool) => total + count(pool), 0);
  const duration = new Histogram({
    name: 'mandate_database_statement_duration_seconds',
    help: 'Time from sending a statement to PostgreSQL until its last row.',
    buckets: [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5, 15],
    registers: [registry],
  });
  const connections = new Gauge({
    name: 'mandate_database_connections',
    help: 'Connections of this process to PostgreSQL, by state.',
    labelNames: ['state'],
    registers: [registry],
    collect() {
      connections.set(
        { state: 'idle' },
        sumOverPools(({ idleCount }) => idleCount),
      );
      connections.set(
        { state: 'busy' },
        sumOverPools(({ totalCount, idleCount }) => totalCount - idleCount),
      );
    },
  });
  const limit: Gauge = new Gauge({
    name: 'mandate_database_connections_max',
    help: 'Maximum number of connections of this process.',
    registers: [registry],
    collect: () => limit.set(sumOverPools(({ options }) => options.max ?? 0)),
  });
  const waiting: Gauge = new Gauge({
    name: 'mandate_database_connection_waiters',
    help: 'Statements and transactions that wait for a free connection.',
    registers: [registry],
    collect: () => waiting.set(sumOverPools(({ waitingCount }) => waitingCount)),
  });
  return {
    onPool: (pool) => void pools.push(pool),
    onMessage() {
      const sentAt = performance.now();
      return () => duration.observe((performance.now() - sentAt) / 1000);
    },
  };
}

/** Registers the embedded database's disk space metrics. */
export function registerDiskSpaceMetrics(registry: Registry, storage: DiskSpaceMonitor): void {
  const free: Gauge = new Gauge({
    name: 'mandate_database_disk_free_bytes',
    help: 'Free space on the file system of the embedded database.',
    registers: [registry],
    collect: () => free.set(storage.freeBytes),
  });
  const rejectsWrites: Gauge = new Gauge({
    name: 'mandate_database_writes_refused',
    help: 'Whether writes are rejected because disk space is low (1) or not (0).',
    registers: [registry],
    collect: () => rejectsWrites.set(storage.isLow() ? 1 : 0),
  });
}

export function registerReplicaUsageMetrics(registry: Registry): (replica: ReplicaWithPrimaryFallback) => void {
  let replica: ReplicaWithPrimaryFallback | undefined;
  const lists: Counter<'from'> = new Counter({
    name: 'mandate_lists_total',
    help: 'List queries that a replica could run, by the server that ran them.',
    labelNames: ['from'],
    registers: [registry],
    collect() {
      lists.reset();
      for (const [from, count] of Object.entries(replica?.counts ?? {})) lists.inc({ from }, count);
    },
  });
  return (activeReplica) => (replica = activeReplica);
}
