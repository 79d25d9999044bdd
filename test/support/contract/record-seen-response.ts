import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { inject } from 'vitest';

const seen = new Set<string>();

/** Records that a test received this declared response. */
export function recordSeenResponse(name: string): void {
  // programs outside Vitest do not record responses
  if (!process.env['VITEST'] || seen.has(name)) return;
  seen.add(name);
  appendFileSync(join(inject('seenResponses'), String(process.pid)), `${name}\n`);
}
