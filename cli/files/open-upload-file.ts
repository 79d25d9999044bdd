import { openAsBlob } from 'node:fs';
import { stat } from 'node:fs/promises';
import type { FileContent } from '@mandate/client-sdk';
import { CommandError } from '../errors/command-error.ts';
import { exitCodes } from '../errors/exit-codes.ts';
import type { CliEnvironment } from '../environment/cli-environment-type.ts';

export type UploadFile = {
  readonly content: FileContent;
  readonly contentType: 'text/csv' | 'application/x-ndjson';
  /** Size of the upload in bytes, if known in advance. */
  readonly bytes: number | undefined;
  /** Reads the file so that it can be checked before the upload. Undefined for standard input, which can be read only once. */
  readonly check?: () => AsyncIterable<Uint8Array>;
};

const mediaTypes = { csv: 'text/csv', ndjson: 'application/x-ndjson' } as const;

/** Opens a file for a streaming upload. `.gz` files are decompressed, and `-` means standard input. */
export async function openUploadFile(io: CliEnvironment, path: string, format: string | undefined): Promise<UploadFile> {
  const isGzip = /\.gz$/i.test(path);
  const isNdjson = /\.(?:ndjson|jsonl)(?:\.gz)?$/i.test(path);
  const contentType = parseFormat(format ?? (isNdjson ? 'ndjson' : 'csv'));
  if (path === '-') return { content: toByteChunks(io.stdin), contentType, bytes: undefined };
  const stats = await stat(path).catch((cause: unknown) => {
    throw new CommandError(exitCodes.usage, 'usage', `Cannot read ${path}`, { cause });
  });
  if (!stats.isFile()) throw new CommandError(exitCodes.usage, 'usage', `${path} is not a file`);
  const blob = await openAsBlob(path);
  if (!isGzip) return { content: blob, contentType, bytes: blob.size, check: () => blob.stream() };
  return { content: () => decompress(path, blob), contentType, bytes: undefined, check: () => decompress(path, blob) };
}

function parseFormat(format: string): UploadFile['contentType'] {
  if (format === 'csv' || format === 'ndjson') return mediaTypes[format];
  throw new CommandError(exitCodes.usage, 'usage', `--format must be csv or ndjson, not ${JSON.stringify(format)}`);
}

async function* decompress(path: string, blob: Blob): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  try {
    yield* blob.stream().pipeThrough(new DecompressionStream('gzip'));
  } catch (cause) {
    throw new CommandError(exitCodes.unexpectedError, 'unreadable_file', `Cannot decompress ${path}`, { cause });
  }
}

async function* toByteChunks(source: CliEnvironment['stdin']): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  for await (const chunk of source) yield typeof chunk === 'string' ? new TextEncoder().encode(chunk) : new Uint8Array(chunk);
}
