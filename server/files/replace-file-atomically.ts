import { rename, rm } from 'node:fs/promises';

/**
 * Replaces a file atomically, so that the file always has either the old or the new content. `write` receives the path of a temporary file
 * and must flush that file to disk, so that the replacement is atomic even after a power failure.
 */
export async function replaceFileAtomically(path: string, write: (temporaryPath: string) => Promise<void>): Promise<void> {
  const temporaryPath = `${path}.part`;
  try {
    await write(temporaryPath);
    await rename(temporaryPath, path);
  } catch (error) {
    await rm(temporaryPath, { force: true });
    throw error;
  }
}
