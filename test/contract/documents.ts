import { readFile, writeFile } from 'node:fs/promises';

const baselineFile = new URL('../../contract/baseline/v1.json', import.meta.url);
const currentFile = new URL('../../contract/openapi/openapi.json', import.meta.url);

/** What was released last, and what is promised now. */
export const readDocuments = async (): Promise<{ baseline: unknown; current: unknown }> => ({
  baseline: JSON.parse(await readFile(baselineFile, 'utf8')),
  current: JSON.parse(await readFile(currentFile, 'utf8')),
});

export const moveBaseline = async (): Promise<void> => writeFile(baselineFile, await readFile(currentFile));
