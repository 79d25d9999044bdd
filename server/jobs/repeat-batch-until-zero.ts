/** Repeats a batch until it changes nothing or the process stops, because more than one batch of work can accumulate. */
export async function repeatBatchUntilZero(signal: AbortSignal, runBatch: () => Promise<number>): Promise<void> {
  while (!signal.aborted && (await runBatch()) > 0);
}
