import { readFile } from 'node:fs/promises';
import { CommandError } from '../errors/command-error.ts';
import { exitCodes } from '../errors/exit-codes.ts';
import type { CliEnvironment } from '../environment/cli-environment-type.ts';
import { isRecord } from '../schema/find-schema-violations.ts';

/** Reads the text of a file, or of standard input if `source` is `-`. */
export async function readTextFromFileOrStdin(io: CliEnvironment, source: string): Promise<string> {
  if (source !== '-') {
    return readFile(source, 'utf8').catch((cause: unknown) => {
      throw new CommandError(exitCodes.usage, 'usage', `Cannot read ${source}`, { cause });
    });
  }
  const chunks: Buffer[] = [];
  for await (const chunk of io.stdin) chunks.push(Buffer.from(chunk));
  return Buffer.concat(chunks).toString('utf8');
}

/** Reads a JSON object from the file that `--input` specifies, or from standard input if `source` is `-`. */
export async function readJsonObjectFromFileOrStdin(io: CliEnvironment, source: string): Promise<Record<string, unknown>> {
  const text = await readTextFromFileOrStdin(io, source);
  const name = source === '-' ? 'Standard input' : source;
  try {
    const value: unknown = JSON.parse(text);
    if (isRecord(value)) return value;
  } catch (cause) {
    throw new CommandError(exitCodes.usage, 'usage', `${name} is not valid JSON`, { cause });
  }
  throw new CommandError(exitCodes.usage, 'usage', `${name} is not a JSON object`);
}
