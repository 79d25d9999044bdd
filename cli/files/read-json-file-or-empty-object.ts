import { readFile } from 'node:fs/promises';

/** Returns the content of a JSON file. Returns an empty object if the file does not exist, and undefined if it is not valid JSON. */
export async function readJsonFileOrEmptyObject(path: string): Promise<unknown> {
  const text = await readFile(path, 'utf8').catch((error: unknown) => {
    if (error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ENOTDIR')) return '{}';
    throw error;
  });
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
