import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';

const text = readFileSync(new URL('page-script.js', import.meta.url), 'utf8');

/** What pages can do besides when there is JavaScript. Its path has its hash, so it can be kept for ever. */
export const pageScript = { path: `/assets/${createHash('sha256').update(text).digest('hex').slice(0, 16)}.js`, text };
