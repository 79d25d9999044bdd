import { createHash, randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { open, rename, unlink } from 'node:fs/promises';
import type { DownloadedFile } from '@mandate/client-sdk';
import { CommandFailure } from '../errors/command-error.ts';
import { exitCodes } from '../errors/exit-codes.ts';
import type { Io } from '../environment.ts';

export type Target = {
  /** `-` is standard output. */
  readonly path: string;
  readonly overwrite: boolean;
};

/** To be called before anything is asked for, too. */
export function refuseOverwriting({ path, overwrite }: Target): void {
  if (path === '-' || overwrite || !existsSync(path)) return;
  throw new CommandFailure(exitCodes.usage, 'file_exists', `${path} is there already`, { hint: 'Overwrite it with: -y' });
}

/** Writes what comes to its target. A file is there when it is complete, and not before. `expected`: its SHA-256. */
export async function saveFile(io: Io, { stream }: DownloadedFile, target: Target, expected?: string): Promise<void> {
  const hash = createHash('sha256');
  const check = (): void => {
    if (expected === undefined || hash.digest('hex') === expected) return;
    throw new CommandFailure(exitCodes.unforeseen, 'damaged', 'What came is not what the service has');
  };
  if (target.path === '-') {
    for await (const piece of stream) {
      hash.update(piece);
      io.stdout.write(piece);
      await io.stdout.drained();
    }
    return check();
  }
  const draft = `${target.path}.${randomUUID()}.part`;
  const file = await open(draft, 'wx').catch((cause: unknown) => {
    throw new CommandFailure(exitCodes.unforeseen, 'unwritable', `${target.path} cannot be written`, { cause });
  });
  try {
    try {
      for await (const piece of stream) {
        hash.update(piece);
        await file.writeFile(piece);
      }
      check();
      await file.sync();
    } finally {
      await file.close();
    }
    refuseOverwriting(target);
    await rename(draft, target.path);
  } catch (error) {
    await unlink(draft).catch(() => undefined);
    throw error;
  }
}
