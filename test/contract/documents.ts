import { readFile, writeFile } from 'node:fs/promises';

const baselineFile = new URL('../../contract/baseline/v1.json', import.meta.url);
const currentFile = new URL('../../contract/openapi/openapi.json', import.meta.url);

/** Reads the OpenAPI documents for the last release and for the current contract. */
export const readDocuments = async (): Promise<{ baseline: unknown; current: unknown }> => ({
  baseline: JSON.parse(await readFile(baselineFile, 'utf8')),
  current: JSON.parse(await readFile(currentFile, 'utf8')),
});

/** Makes the current contract the baseline. */
export const updateBaseline = async (): Promise<void> => writeFile(baselineFile, await readFile(currentFile));
