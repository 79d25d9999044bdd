import { appendFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { expect, inject } from 'vitest';

const seen = new Set<string>();

/** Test files that send concurrent or random requests, and therefore receive different responses in each run. */
const unpredictableFile = /^(?:(?:.+-)?races?|fuzz|properties|budget-model|exact-sums)\.test\.ts$/;

/** Records that a test received this declared response. Ignores tests that do not receive the same responses in every run. */
export function recordSeenResponse(name: string): void {
  // programs outside Vitest do not record responses
  if (!process.env['VITEST'] || seen.has(name)) return;
  if (unpredictableFile.test(basename(expect.getState().testPath ?? ''))) return;
  seen.add(name);
  appendFileSync(join(inject('seenResponses'), String(process.pid)), `${name}\n`);
}
