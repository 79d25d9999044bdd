import { Counter, Gauge, Histogram, type Registry } from '@prometheus-io/client';
import type { Pool } from 'pg';
import type { Replica } from '../database/replica/read-replica.ts';
import type { StorageReserve } from '../database/storage/storage-reserve.ts';
import { timeStatements } from '../database/connection/pool-safety.ts';

/** Of PostgreSQL: the embedded database has one connection, and nobody waits for it elsewhere than for the process. */
export function databaseMetrics(registry: Registry): (pool: Pool) => void {
  const pools: Pool[] = [];
  const sum = (count: (pool: Pool) => number): number => pools.reduce((total, pool) => total + count(pool), 0);
  const duration = new Histogram({
    name: 'mandate_database_statement_duration_seconds',
    help: 'From sending a statement to PostgreSQL to its last row.',
    buckets: [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5, 15],
    registers: [registry],
  });
  const connections = new Gauge({
    name: 'mandate_database_connections',
    help: 'Connections of this process to PostgreSQL, by what they do.',
    labelNames: ['state'],
    registers: [registry],
    collect() {
      connections.set(
        { state: 'idle' },
        sum(({ idleCount }) => idleCount),
      );
      connections.set(
        { state: 'busy' },
        sum(({ totalCount, idleCount }) => totalCount - idleCount),
      );
    },
  });
  const limit: Gauge = new Gauge({
    name: 'mandate_database_connections_max',
    help: 'Connections this process opens at most.',
    registers: [registry],
    collect: () => limit.set(sum(({ options }) => options.max ?? 0)),
  });
  const waiting: Gauge = new Gauge({
    name: 'mandate_database_connection_waiters',
    help: 'Statements and transactions that wait for a connection to be free.',
    registers: [registry],
    collect: () => waiting.set(sum(({ waitingCount }) => waitingCount)),
  });
  return (pool) => {
    pools.push(pool);
    pool.on('connect', (client) => timeStatements(client, (milliseconds) => duration.observe(milliseconds / 1000)));
  };
}

/** Disk space of the embedded database. */
export function storageMetrics(registry: Registry, storage: StorageReserve): void {
  const free: Gauge = new Gauge({
    name: 'mandate_database_disk_free_bytes',
    help: 'Free space on the file system of the embedded database.',
    registers: [registry],
    collect: () => free.set(storage.freeBytes),
  });
  const refused: Gauge = new Gauge({
    name: 'mandate_database_writes_refused',
    help: 'Whether writes are refused because disk space is low (1) or not (0).',
    registers: [registry],
    collect: () => refused.set(storage.isLow() ? 1 : 0),
  });
}

export function replicaMetrics(registry: Registry): (replica: Replica) => void {
  let replica: Replica | undefined;
  const lists: Counter<'from'> = new Counter({
    name: 'mandate_lists_total',
    help: 'Lists that a replica could answer, by who did.',
    labelNames: ['from'],
    registers: [registry],
    collect() {
      lists.reset();
      for (const [from, count] of Object.entries(replica?.counts ?? {})) lists.inc({ from }, count);
    },
  });
  return (watched) => (replica = watched);
}
