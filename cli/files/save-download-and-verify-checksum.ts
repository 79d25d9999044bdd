import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import type { DownloadedFile } from '@mandate/client-sdk';
import { CommandError } from '../errors/command-error.ts';
import { exitCodes } from '../errors/exit-codes.ts';
import type { CliEnvironment } from '../environment/cli-environment-type.ts';
import { beginAtomicFileReplacement } from './replace-file-atomically.ts';

export type DownloadTarget = {
  /** Path of the file; `-` means standard output. */
  readonly path: string;
  readonly overwrite: boolean;
};

/**
 * Throws if the file exists and must not be overwritten. Commands also call this function before their first request, so that they fail
 * early.
 */
export function assertDownloadMayOverwrite({ path, overwrite }: DownloadTarget): void {
  if (path === '-' || overwrite || !existsSync(path)) return;
  throw new CommandError(exitCodes.usage, 'file_exists', `${path} already exists`, { hint: 'Overwrite it with: -y' });
}

/** Writes a download to a file or standard output. The file appears only when it is complete and its SHA-256 hash equals `expected`. */
export async function saveDownloadAndVerifyChecksum(
  io: CliEnvironment,
  { stream }: DownloadedFile,
  target: DownloadTarget,
  expected?: string,
): Promise<void> {
  const hash = createHash('sha256');
  const verifyChecksum = (): void => {
    if (expected === undefined || hash.digest('hex') === expected) return;
    throw new CommandError(exitCodes.unexpectedError, 'damaged', 'The downloaded file is damaged: its checksum does not match');
  };
  if (target.path === '-') {
    for await (const chunk of stream) {
      hash.update(chunk);
      io.stdout.write(chunk);
      await io.stdout.drained();
    }
    return verifyChecksum();
  }
  const finish = await beginAtomicFileReplacement(target.path).catch((cause: unknown) => {
    throw new CommandError(exitCodes.unexpectedError, 'unwritable', `Cannot write ${target.path}`, { cause });
  });
  await finish(
    async (file) => {
      for await (const chunk of stream) {
        hash.update(chunk);
        await file.writeFile(chunk);
      }
      verifyChecksum();
    },
    () => assertDownloadMayOverwrite(target),
  );
}
