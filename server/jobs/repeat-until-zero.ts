/** Repeats a batch job until it reports 0 changes or the process stops, because a busy minute can leave more than one batch. */
export async function repeatUntilZero(signal: AbortSignal, runBatch: () => Promise<number>): Promise<void> {
  while (!signal.aborted && (await runBatch()) > 0);
}
