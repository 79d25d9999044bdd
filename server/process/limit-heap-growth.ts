import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** By default, V8 lets the old generation grow by up to 300% between two collections. A limit of 50% is sufficient for serving requests. */
const heapGrowthPercent = 50;

/**
 * Limits how much garbage V8 accumulates. V8 calculates the limit after each full collection, and tolerates hundreds of megabytes before
 * the first collection. Therefore, call this function after all modules have been loaded.
 */
export function limitHeapGrowthBetweenCollections(): void {
  setFlagsFromString(`--heap-growing-percent=${heapGrowthPercent}`);
  setFlagsFromString('--expose-gc');
  runInNewContext('gc()'); // the flag exposes `gc` only in new contexts
}
