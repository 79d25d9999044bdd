import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { audit } from './audit/audit.ts';
import { inspectorVariables, measureProcess, type ProcessMeasurement } from './environments/process-inspector.ts';
import { Load } from './traffic/load.ts';
import type { FaultOutcome, FaultRunOptions } from './run-fault.ts';
import { PostgresqlEnvironment, startDurablePostgresql, startServers } from './environments/environment.ts';

/** A measurement of all servers. */
export type SoakSample = { readonly processes: readonly ProcessMeasurement[]; readonly connections: number };
export type SoakOutcome = FaultOutcome & { readonly samples: readonly SoakSample[] };

const maxMeasurementMs = 2_000;
const clientConnectionsSql = `select count(*)::int as connections from pg_stat_activity where backend_type = 'client backend' and pid <> pg_backend_pid()`;
const countSchema = z.object({ connections: z.coerce.number() });

/** Starts two servers with the inspector enabled. */
export async function openSoak(): Promise<PostgresqlEnvironment> {
  const postgresql = await startDurablePostgresql();
  return new PostgresqlEnvironment(await startServers(2, () => ({ DATABASE_URL: postgresql.url, ...inspectorVariables })), postgresql);
}

/** Generates load without faults for the given time, and measures the servers ten times, starting after the warm-up. */
export async function soak(
  environment: PostgresqlEnvironment,
  { seconds = 30, expireLeases = false, load: settings, onProgress }: FaultRunOptions,
): Promise<SoakOutcome> {
  const load = await Load.start(environment, settings);
  const samples: SoakSample[] = [];
  const parts = 10;
  const partMs = (seconds * 1000) / parts;
  const measurementMs = Math.min(maxMeasurementMs, partMs);
  for (let part = 1; part <= parts; part += 1) {
    await sleep(partMs - measurementMs);
    const processes = await Promise.all(environment.servers.map((server) => measureProcess(server, measurementMs)));
    samples.push({ processes, ...countSchema.parse((await environment.sql(clientConnectionsSql))[0]) });
    onProgress?.(part);
  }
  await load.stop();
  const acknowledged = load.ledger.acknowledgements.length;
  const findings = await audit(load, { expireLeases });
  findings.notes.unshift(...describe(samples));
  return {
    name: 'soak',
    title: `no fault, for ${seconds} s`,
    command: `--seconds ${seconds}`,
    times: 1,
    acknowledged,
    recoveries: [],
    findings,
    samples,
  };
}

function describe(samples: readonly SoakSample[]): string[] {
  const [first, last] = [samples[0], samples.at(-1)];
  if (!first || !last) return [];
  const change = (valueOf: (measurement: ProcessMeasurement) => number): string =>
    last.processes
      .map((measurement, nth) => `${valueOf(first.processes[nth] ?? measurement).toFixed(0)} → ${valueOf(measurement).toFixed(0)}`)
      .join(' and ');
  return [
    `resident ${change(({ residentMb }) => residentMb)} MB`,
    `heap after collection ${change(({ heapMb }) => heapMb)} MB`,
    `event loop delay, p50 ${change(({ eventLoopDelayMs }) => eventLoopDelayMs.p50)} ms, p99 ${change(({ eventLoopDelayMs }) => eventLoopDelayMs.p99)} ms`,
    `connections ${first.connections} → ${last.connections}`,
  ];
}
