import { beforeEach, expect } from 'vitest';
import { faults, namesOfFaultsDetectedBy } from './faults.ts';

declare global {
  /** Name of the fault with which the current test runs. The planted code reads this variable. */
  var plantedFault: string | undefined;
}

const { testPath = '' } = expect.getState();

const faultsFromStart = Object.entries(faults).filter(([, { tests, fromStart }]) => fromStart === true && testPath.endsWith(tests));
globalThis.plantedFault = faultsFromStart[0]?.[0];

// The first attempt runs with the fault. If it fails, the next attempts run without the fault.
beforeEach(({ task, skip }) => {
  const [name] = namesOfFaultsDetectedBy(testPath, task.fullTestName);
  if (name === undefined) skip();
  else globalThis.plantedFault = (task.result?.retryCount ?? 0) === 0 || faults[name]?.fromStart === true ? name : undefined;
});
