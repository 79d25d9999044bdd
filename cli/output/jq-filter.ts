import type { loadJq } from './load-jq.ts';
import { CommandFailure } from '../errors/command-error.ts';
import { exitCodes } from '../errors/exit-codes.ts';
import type { Output } from '../environment.ts';
import { plainText, printableJson } from '../terminal/safe-terminal-text.ts';

let jq: Awaited<ReturnType<typeof loadJq>> | undefined;

/** Loads jq and compiles `filter`: a mistake in it must not come to light after an order was placed. */
export async function prepareJq(filter: string): Promise<void> {
  const { loadJq: load } = await import('./load-jq.ts');
  jq ??= await load();
  // Without an input, jq compiles the filter and does not run it.
  const { exitCode, stderr } = jq.raw('', filter);
  if (exitCode !== 0) throw new CommandFailure(exitCodes.usage, 'usage', `--jq is not a valid jq filter: ${firstLineOf(stderr)}`);
}

/** Every result of `filter` for `value`, one per line: text as it is, anything else as JSON. */
export function jqLines(filter: string, value: unknown, { isTTY }: Pick<Output, 'isTTY'>): string {
  if (!jq) throw new Error('jq is used before it was loaded');
  const { stdout, stderr, exitCode } = jq.raw(JSON.stringify(value ?? null), filter, ['-c']);
  if (exitCode !== 0 && stderr !== '')
    throw new CommandFailure(exitCodes.unforeseen, 'jq_failed', `The --jq filter failed: ${firstLineOf(stderr)}`);
  const results = stdout.split('\n').filter(Boolean);
  return results.map((result) => `${shownResult(JSON.parse(result), isTTY)}\n`).join('');
}

/** On a terminal, control characters in text could do more than be read; line breaks and tabs are harmless. */
function shownResult(result: unknown, isTTY: boolean): string {
  if (typeof result !== 'string') return printableJson(result);
  return isTTY ? result.replaceAll(/[^\n\t]+/g, plainText) : result;
}

const firstLineOf = (stderr: string): string => (stderr.split('\n')[0] ?? '').replace(/^jq: (?:error: )?/, '');
