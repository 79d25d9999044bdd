import { readFileSync } from 'node:fs';
import { assetPathWithContentHash } from '../../../http/response/hashed-asset-path.ts';

const text = readFileSync(new URL('page-script.js', import.meta.url), 'utf8');

/** Script with optional page enhancements. */
export const pageEnhancementScript = { path: assetPathWithContentHash(text, 'js'), text };
