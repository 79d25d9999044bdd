const resets: (() => void)[] = [];

/** Registers a function that resets a module's state before the next test file, because test files share their worker's modules. */
export const resetBeforeTestFile = (reset: () => void): void => void resets.push(reset);

/** Resets the state that the previous test file has changed. */
export const resetState = (): void => {
  for (const reset of resets) reset();
};
