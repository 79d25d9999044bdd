import { audit } from './audit/audit.ts';
import type { Findings } from './audit/violations.ts';
import { Load, type LoadSettings } from './traffic/load.ts';
import type { Fault } from './scenario.ts';
import type { Stage } from './environments/environment.ts';

/** What came of a fault, for a line of the table. */
export type Outcome = {
  readonly name: string;
  readonly title: string;
  /** With which it can be repeated, beside its name. */
  readonly command: string;
  readonly times: number;
  readonly acknowledged: number;
  /** Seconds, one for each time. */
  readonly recoveries: readonly number[];
  readonly findings: Findings;
};

export type Playing = {
  readonly times: number;
  /** How long it goes on at least, in seconds. */
  readonly seconds?: number;
  /** For a test: nobody waits for leases of a minute to end. */
  readonly hurry?: boolean;
  readonly load?: LoadSettings;
  readonly onProgress?: (done: number) => void;
};

/** Writes that are confirmed between one time and the next. */
const between = 25;

/** Lets a fault happen so many times while people use the servers, and then compares what was confirmed with what there is. */
export async function play<S extends Stage>(fault: Fault<S>, stage: S, playing: Playing): Promise<Outcome> {
  const { times, seconds = 0, hurry = false, onProgress } = playing;
  const load = await Load.begin(stage, playing.load);
  const until = performance.now() + seconds * 1000;
  const recoveries: number[] = [];
  const notes: string[] = [];
  const note = (text: string | undefined): unknown => text !== undefined && notes.push(text);
  for (let nth = 0; nth < times || performance.now() < until; nth += 1) {
    const occasion = { load, nth, hurry };
    await load.acknowledged(between);
    const recovery = await load.recovery(async () => {
      const struck = await fault.strike(stage, occasion);
      note(struck.note);
      return struck.since;
    });
    recoveries.push(recovery);
    note(await fault.afterwards?.(stage, occasion));
    onProgress?.(nth + 1);
  }
  await load.acknowledged(between);
  await load.end();
  const acknowledged = load.ledger.acknowledgements.length;
  note(`answers: ${describe(load.ledger.statuses)}`);
  const findings = await audit(load, { hurry });
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
