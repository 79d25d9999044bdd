import { readFileSync } from 'node:fs';
import { createAssetPathWithContentHash } from '../../../http/response/create-asset-path-with-content-hash.ts';

const text = readFileSync(new URL('page-script.js', import.meta.url), 'utf8');

/** Script with optional page enhancements. */
export const pageEnhancementScript = { path: createAssetPathWithContentHash(text, 'js'), text };
