import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';

const text = readFileSync(new URL('page-script.js', import.meta.url), 'utf8');

/** Script with optional enhancements of the pages. Its path contains a hash of the content, so caches can store it indefinitely. */
export const pageScript = { path: `/assets/${createHash('sha256').update(text).digest('hex').slice(0, 16)}.js`, text };
