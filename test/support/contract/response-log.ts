import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { inject } from 'vitest';

const seen = new Set<string>();

/** Writes down that a test has seen this answer, as the contract declares it. */
export function sawAnswer(name: string): void {
  // a program that is no test has nobody to tell
  if (!process.env['VITEST'] || seen.has(name)) return;
  seen.add(name);
  appendFileSync(join(inject('seenAnswers'), String(process.pid)), `${name}\n`);
}
