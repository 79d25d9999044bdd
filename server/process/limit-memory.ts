import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** V8 lets the heap of long-lived objects grow by up to 300 % between two collections; this is enough for requests. */
const heapGrowthPercent = 50;

/**
 * Limits how much garbage V8 keeps. It calculates the limit from the heap size after a full collection, and tolerates hundreds of
 * megabytes before the first one: so call this when everything is loaded.
 */
export function limitMemory(): void {
  setFlagsFromString(`--heap-growing-percent=${heapGrowthPercent}`);
  setFlagsFromString('--expose-gc');
  runInNewContext('gc()'); // a new context has what the flag exposes
}
