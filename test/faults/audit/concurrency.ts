/** Returns an evenly spaced sample of at most `most` values. */
export function sampleEvenly<T>(all: readonly T[], most: number): T[] {
  const step = Math.max(1, all.length / most);
  return Array.from({ length: Math.min(all.length, most) }, (_, nth) => all[Math.floor(nth * step)]).filter((one) => one !== undefined);
}

/** Processes all values, six at a time. */
export async function forEachConcurrently<T>(all: Iterable<T>, work: (one: T) => Promise<unknown>): Promise<void> {
  const remaining = [...all];
  const worker = async (): Promise<void> => {
    for (let one = remaining.shift(); one !== undefined; one = remaining.shift()) await work(one);
  };
  await Promise.all(Array.from({ length: 6 }, worker));
}
