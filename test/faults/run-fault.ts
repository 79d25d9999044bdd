import { audit } from './audit/audit.ts';
import type { Findings } from './audit/findings.ts';
import { Load, type LoadSettings } from './traffic/load.ts';
import type { Fault } from './scenarios/scenario.ts';
import type { FaultEnvironment } from './environments/environment.ts';

/** Result of a fault, for one table row. */
export type FaultOutcome = {
  readonly name: string;
  readonly title: string;
  /** Command-line options that reproduce this run, except `--fault`. */
  readonly command: string;
  readonly times: number;
  readonly acknowledged: number;
  /** Recovery time of each injection, in seconds. */
  readonly recoveries: readonly number[];
  readonly findings: Findings;
};

export type FaultRunOptions = {
  readonly times: number;
  /** Minimum duration, in seconds. */
  readonly seconds?: number;
  /** Whether leases expire immediately instead of after a minute (only in tests). */
  readonly expireLeases?: boolean;
  readonly load?: LoadSettings;
  readonly onProgress?: (done: number) => void;
};

/** Number of confirmed writes between consecutive injections. */
const writesBetweenInjections = 25;

/** Injects a fault `times` times under load, and then compares the confirmed writes with the system state. */
export async function runFault<S extends FaultEnvironment>(
  fault: Fault<S>,
  environment: S,
  options: FaultRunOptions,
): Promise<FaultOutcome> {
  const { times, seconds = 0, expireLeases = false, onProgress } = options;
  const load = await Load.start(environment, options.load);
  const until = performance.now() + seconds * 1000;
  const recoveries: number[] = [];
  const notes: string[] = [];
  const addNote = (text: string | undefined): unknown => text !== undefined && notes.push(text);
  for (let nth = 0; nth < times || performance.now() < until; nth += 1) {
    const context = { load, nth, expireLeases };
    await load.waitForWrites(writesBetweenInjections);
    const recovery = await load.measureRecovery(async () => {
      const injected = await fault.inject(environment, context);
      addNote(injected.note);
      return injected.since;
    });
    recoveries.push(recovery);
    addNote(await fault.restore?.(environment, context));
    onProgress?.(nth + 1);
  }
  await load.waitForWrites(writesBetweenInjections);
  await load.stop();
  const acknowledged = load.ledger.acknowledgements.length;
  addNote(`responses: ${describe(load.ledger.statuses)}`);
  const findings = await audit(load, { expireLeases });
  findings.notes.unshift(...notes);
  return {
    name: fault.name,
    title: fault.title,
    command: `--times ${recoveries.length}`,
    times: recoveries.length,
    acknowledged,
    recoveries,
    findings,
  };
}

const describe = (statuses: ReadonlyMap<number, number>): string =>
  [...statuses]
    .toSorted(([a], [b]) => a - b)
    .map(([status, count]) => `${count} × ${status === 0 ? 'none' : status}`)
    .join(', ');
