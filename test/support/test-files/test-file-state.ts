const resets: (() => void)[] = [];

/**
 * Registers a function that resets a module's state before the next test file. Test files that run in the same worker share its modules.
 */
export const resetBeforeTestFile = (reset: () => void): void => void resets.push(reset);

/** Resets the state that the previous test file has changed. */
export const resetState = (): void => {
  for (const reset of resets) reset();
};
