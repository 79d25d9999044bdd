import { randomUUID } from 'node:crypto';
import { open, readFile, rename, unlink } from 'node:fs/promises';

/** Returns the content of a JSON file: an empty object if the file does not exist, undefined if it is not valid JSON. */
export async function readJsonFile(path: string): Promise<unknown> {
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

/** Replaces a file atomically, even if power fails: it has either the old or the new content. Only its owner can read it. */
export async function replaceFileAtomically(path: string, content: string): Promise<void> {
  const temporaryPath = `${path}.${randomUUID()}`;
  try {
    const file = await open(temporaryPath, 'wx', 0o600);
    try {
      await file.writeFile(content);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(temporaryPath, path);
  } catch (error) {
    await unlink(temporaryPath).catch(() => undefined);
    throw error;
  }
}
