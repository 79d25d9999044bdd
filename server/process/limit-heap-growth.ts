import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** By default, V8 lets the old generation grow by up to 300% between two collections. To serve requests, 50% is sufficient. */
const heapGrowthPercent = 50;

/**
 * Limits how much garbage V8 accumulates. V8 calculates the limit after each full collection, and tolerates hundreds of megabytes before
 * the first collection. Therefore, call this function when everything is loaded.
 */
export function limitHeapGrowthBetweenCollections(): void {
  setFlagsFromString(`--heap-growing-percent=${heapGrowthPercent}`);
  setFlagsFromString('--expose-gc');
  runInNewContext('gc()'); // the function that the flag exposes exists only in new contexts
}
