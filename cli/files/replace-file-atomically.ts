import { randomUUID } from 'node:crypto';
import { open, rename, unlink, type FileHandle } from 'node:fs/promises';

type FinishReplacement = (write: (file: FileHandle) => Promise<void>, beforeRename?: () => void) => Promise<void>;

/**
 * Replaces a file atomically: even after a power failure, it has either the old or the new content. The file is readable only by its owner.
 */
export async function replaceFileAtomically(path: string, content: string): Promise<void> {
  const finish = await beginAtomicFileReplacement(path, 0o600);
  await finish((file) => file.writeFile(content));
}

/**
 * Creates a temporary file beside `path`. The returned function writes the temporary file and renames it to `path`. If anything fails, the
 * function deletes the temporary file and leaves `path` unchanged.
 */
export async function beginAtomicFileReplacement(path: string, mode?: number): Promise<FinishReplacement> {
  const temporaryPath = `${path}.${randomUUID()}.part`;
  const file = await open(temporaryPath, 'wx', mode);
  return async (write, beforeRename) => {
    try {
      try {
        await write(file);
        await file.sync();
      } finally {
        await file.close();
      }
      beforeRename?.();
      await rename(temporaryPath, path);
    } catch (error) {
      await unlink(temporaryPath).catch(() => undefined);
      throw error;
    }
  };
}
