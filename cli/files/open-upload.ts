import { openAsBlob } from 'node:fs';
import { stat } from 'node:fs/promises';
import type { FileContent } from '@mandate/client-sdk';
import { CommandFailure } from '../errors/command-error.ts';
import { exitCodes } from '../errors/exit-codes.ts';
import type { Io } from '../environment.ts';

export type FileToSend = {
  readonly content: FileContent;
  readonly contentType: 'text/csv' | 'application/x-ndjson';
  /** Bytes that will be sent, where that is known before. */
  readonly bytes: number | undefined;
  /** Reads the file for a check before it is sent; standard input can be read only once. */
  readonly check?: () => AsyncIterable<Uint8Array>;
};

const mediaTypes = { csv: 'text/csv', ndjson: 'application/x-ndjson' } as const;

/** A file for sending, without holding it; `.gz` is unpacked on the way, and `-` is standard input. */
export async function openFile(io: Io, path: string, format: string | undefined): Promise<FileToSend> {
  const packed = /\.gz$/i.test(path);
  const lines = /\.(?:ndjson|jsonl)(?:\.gz)?$/i.test(path);
  const contentType = mediaTypeOf(format ?? (lines ? 'ndjson' : 'csv'));
  if (path === '-') return { content: piecesOf(io.stdin), contentType, bytes: undefined };
  const found = await stat(path).catch((cause: unknown) => {
    throw new CommandFailure(exitCodes.usage, 'usage', `${path} cannot be read`, { cause });
  });
  if (!found.isFile()) throw new CommandFailure(exitCodes.usage, 'usage', `${path} is not a file`);
  const blob = await openAsBlob(path);
  if (!packed) return { content: blob, contentType, bytes: blob.size, check: () => blob.stream() };
  return { content: () => unpacked(path, blob), contentType, bytes: undefined, check: () => unpacked(path, blob) };
}

function mediaTypeOf(format: string): FileToSend['contentType'] {
  if (format === 'csv' || format === 'ndjson') return mediaTypes[format];
  throw new CommandFailure(exitCodes.usage, 'usage', `--format is csv or ndjson, not ${JSON.stringify(format)}`);
}

async function* unpacked(path: string, blob: Blob): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  try {
    yield* blob.stream().pipeThrough(new DecompressionStream('gzip'));
  } catch (cause) {
    throw new CommandFailure(exitCodes.unforeseen, 'unreadable_file', `${path} cannot be unpacked`, { cause });
  }
}

async function* piecesOf(source: Io['stdin']): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  for await (const piece of source) yield typeof piece === 'string' ? new TextEncoder().encode(piece) : new Uint8Array(piece);
}
