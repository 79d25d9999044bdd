import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { audit } from './audit/audit.ts';
import { inspectable, vitalsOf, type Vitals } from './environments/process-inspector.ts';
import { Load } from './traffic/load.ts';
import type { Outcome, Playing } from './run-fault.ts';
import { PostgresqlStage, startDurablePostgresql, startServers } from './environments/environment.ts';

/** One look at everything. */
export type Look = { readonly vitals: readonly Vitals[]; readonly connections: number };
export type Soak = Outcome & { readonly looks: readonly Look[] };

const lookMs = 2_000;
const ofServers = `select count(*)::int as connections from pg_stat_activity where backend_type = 'client backend' and pid <> pg_backend_pid()`;
const counted = z.object({ connections: z.coerce.number() });

/** Two servers that can be looked into. */
export async function openSoak(): Promise<PostgresqlStage> {
  const postgresql = await startDurablePostgresql();
  return new PostgresqlStage(await startServers(2, () => ({ DATABASE_URL: postgresql.url, ...inspectable })), postgresql);
}

/** Nothing happens to the servers but that they are used, for so many seconds; looks at them now and then, at the end of the warming up first. */
export async function soak(stage: PostgresqlStage, { seconds = 30, hurry = false, load: settings, onProgress }: Playing): Promise<Soak> {
  const load = await Load.begin(stage, settings);
  const looks: Look[] = [];
  const parts = 10;
  for (let part = 1; part <= parts; part += 1) {
    await sleep(Math.max(0, (seconds * 1000) / parts - lookMs));
    const vitals = await Promise.all(stage.servers.map((server) => vitalsOf(server, lookMs)));
    looks.push({ vitals, ...counted.parse((await stage.sql(ofServers))[0]) });
    onProgress?.(part);
  }
  await load.end();
  const acknowledged = load.ledger.acknowledgements.length;
  const findings = await audit(load, { hurry });
  findings.notes.unshift(...describe(looks));
  return {
    name: 'soak',
    title: `nothing, for ${seconds} s`,
    command: `--seconds ${seconds}`,
    times: 1,
    acknowledged,
    recoveries: [],
    findings,
    looks,
  };
}

function describe(looks: readonly Look[]): string[] {
  const [first, last] = [looks[0], looks.at(-1)];
  if (!first || !last) return [];
  const change = (of: (vitals: Vitals) => number): string =>
    last.vitals.map((vitals, nth) => `${of(first.vitals[nth] ?? vitals).toFixed(0)} → ${of(vitals).toFixed(0)}`).join(' and ');
  return [
    `resident ${change(({ residentMb }) => residentMb)} MB`,
    `heap after collection ${change(({ heapMb }) => heapMb)} MB`,
    `event loop behind, p50 ${change(({ lagMs }) => lagMs.p50)} ms, p99 ${change(({ lagMs }) => lagMs.p99)} ms`,
    `connections ${first.connections} → ${last.connections}`,
  ];
}
