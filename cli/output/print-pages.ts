import { CommandFailure } from '../errors/command-error.ts';
import { exitCodes } from '../errors/exit-codes.ts';
import type { Io } from '../environment.ts';
import { plainText } from '../terminal/safe-terminal-text.ts';
import { isObject } from '../contract-commands/schema-violations.ts';
import type { Settings } from '../settings/settings.ts';
import { showResult } from './print-result.ts';

type Listing = {
  readonly io: Io;
  readonly settings: Settings;
  readonly columns?: readonly string[] | undefined;
  readonly headings?: Readonly<Record<string, string>> | undefined;
  readonly all: boolean;
  readonly pageAt: (cursor: string | undefined) => PromiseLike<unknown>;
};

/** One page with a word about the next, or all of them: as one document, or as lines that come page by page. */
export async function showPages({ io, settings, columns, headings, all, pageAt }: Listing): Promise<void> {
  const page = await pageAt(undefined);
  if (!all) {
    showResult(io, settings, page, columns, headings);
    const cursor = nextCursor(page);
    if (cursor !== undefined && io.stderr.isTTY && !settings.quiet) {
      io.stderr.write(`${dataOf(page).length} shown; more: --cursor ${plainText(cursor)} or --all\n`);
    }
    return;
  }
  // A document, or a table with columns as wide as its widest cell, needs everything first.
  const asLines = settings.format === 'jsonl' || (settings.format === 'text' && settings.get === undefined && !io.stdout.isTTY);
  const items: unknown[] = [];
  for (let current = page, shown = 0; ;) {
    if (asLines) showResult(io, settings, current, columns, headings);
    else items.push(...dataOf(current));
    shown += dataOf(current).length;
    const cursor = nextCursor(current);
    if (cursor === undefined) break;
    try {
      current = await pageAt(cursor);
    } catch (cause) {
      if (!asLines) throw cause;
      throw new CommandFailure(exitCodes.unforeseen, 'incomplete', 'The list is not complete', {
        cause,
        hint: `${shown} were printed; go on with: --cursor ${cursor}`,
      });
    }
    if (nextCursor(current) === cursor) throw new Error('the list leads back to the same page');
  }
  if (!asLines) showResult(io, settings, { data: items, has_more: false, next_cursor: null }, columns, headings);
}

const dataOf = (page: unknown): readonly unknown[] => (isObject(page) && Array.isArray(page['data']) ? page['data'] : []);

const nextCursor = (page: unknown): string | undefined =>
  isObject(page) && typeof page['next_cursor'] === 'string' ? page['next_cursor'] : undefined;
