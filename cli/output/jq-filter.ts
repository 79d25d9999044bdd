import type { loadJq } from './load-jq.ts';
import { CommandError } from '../errors/command-error.ts';
import { exitCodes } from '../errors/exit-codes.ts';
import type { OutputStream } from '../environment/cli-environment-type.ts';
import { sanitizeForTerminal, serializeJsonForTerminal } from '../terminal/sanitize-and-measure-terminal-text.ts';

let jq: Awaited<ReturnType<typeof loadJq>> | undefined;

/** Loads jq and compiles the filter, so that an invalid filter is rejected before any request is sent. */
export async function loadJqAndCheckFilter(filter: string): Promise<void> {
  const { loadJq: load } = await import('./load-jq.ts');
  jq ??= await load();
  // Without input, jq only compiles the filter.
  const { exitCode, stderr } = jq.raw('', filter);
  if (exitCode !== 0) throw new CommandError(exitCodes.usage, 'usage', `--jq is not a valid jq filter: ${firstLine(stderr)}`);
}

/** Returns the filter's results for `value`, one per line: strings without quotes, all other values as JSON. */
export function applyJqFilter(filter: string, value: unknown, { isTTY }: Pick<OutputStream, 'isTTY'>): string {
  if (!jq) throw new Error('jq has not been loaded');
  const { stdout, stderr, exitCode } = jq.raw(JSON.stringify(value ?? null), filter, ['-c']);
  if (exitCode !== 0 && stderr !== '')
    throw new CommandError(exitCodes.unexpectedError, 'jq_failed', `The --jq filter failed: ${firstLine(stderr)}`);
  const results = stdout.split('\n').filter(Boolean);
  return results.map((result) => `${formatResult(JSON.parse(result), isTTY)}\n`).join('');
}

/** Formats one result. On a terminal, replaces control characters in strings, except line breaks and tabs. */
function formatResult(result: unknown, isTTY: boolean): string {
  if (typeof result !== 'string') return serializeJsonForTerminal(result);
  return isTTY ? result.replaceAll(/[^\n\t]+/g, sanitizeForTerminal) : result;
}

const firstLine = (stderr: string): string => (stderr.split('\n')[0] ?? '').replace(/^jq: (?:error: )?/, '');
