import { readFileSync } from 'node:fs';
import { assetPath } from '../../../http/response/asset-path.ts';

const text = readFileSync(new URL('page-script.js', import.meta.url), 'utf8');

/** Script with optional enhancements of the pages. */
export const pageScript = { path: assetPath(text, 'js'), text };
