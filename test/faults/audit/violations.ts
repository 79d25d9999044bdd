/** What a look at everything found that is not as it was confirmed. */
export class Findings {
  /** Confirmed, and not there or not the same. */
  readonly lost: string[] = [];
  /** There more often than it was asked for. */
  readonly doubled: string[] = [];
  /** Spent or revoked, and accepted. */
  readonly letIn: string[] = [];
  /** Answers that no fault excuses. */
  readonly unexpected: string[] = [];
  readonly notes: string[] = [];
}

export type Thoroughness = {
  /** Whether what waits for a lease to end is helped along, where that takes longer than a test should. */
  readonly hurry: boolean;
};

/** Evenly over all of them, at most so many. */
export function sample<T>(all: readonly T[], most: number): T[] {
  const step = Math.max(1, all.length / most);
  return Array.from({ length: Math.min(all.length, most) }, (_, nth) => all[Math.floor(nth * step)]).filter((one) => one !== undefined);
}

/** A few at a time. */
export async function forEach<T>(all: Iterable<T>, work: (one: T) => Promise<unknown>): Promise<void> {
  const waiting = [...all];
  const lane = async (): Promise<void> => {
    for (let one = waiting.shift(); one !== undefined; one = waiting.shift()) await work(one);
  };
  await Promise.all(Array.from({ length: 6 }, lane));
}
