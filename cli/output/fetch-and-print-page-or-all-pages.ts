import { CommandError } from '../errors/command-error.ts';
import { exitCodes } from '../errors/exit-codes.ts';
import type { CliEnvironment } from '../environment/cli-environment-type.ts';
import { sanitizeForTerminal } from '../terminal/sanitize-and-measure-terminal-text.ts';
import { isRecord } from '../schema/find-schema-violations.ts';
import type { Settings } from '../settings/resolve-settings.ts';
import { printResult } from './print-result.ts';

type Listing = {
  readonly io: CliEnvironment;
  readonly settings: Settings;
  readonly columns?: readonly string[] | undefined;
  readonly headings?: Readonly<Record<string, string>> | undefined;
  readonly all: boolean;
  readonly pageAt: (cursor: string | undefined) => PromiseLike<unknown>;
};

/**
 * Prints one page, and the flag that fetches the next page. With `all`, prints every page, either as one document or line by line as pages
 * arrive.
 */
export async function fetchAndPrintPageOrAllPages({ io, settings, columns, headings, all, pageAt }: Listing): Promise<void> {
  const page = await pageAt(undefined);
  if (!all) {
    printResult(io, settings, page, columns, headings);
    const cursor = nextCursor(page);
    if (cursor !== undefined && io.stderr.isTTY && !settings.quiet) {
      io.stderr.write(`${pageItems(page).length} shown; get more with --cursor ${sanitizeForTerminal(cursor)} or --all\n`);
    }
    return;
  }
  // A JSON document or a table can be printed only after every page has been fetched. The column widths of a table depend on all rows.
  const asLines = settings.format === 'jsonl' || (settings.format === 'text' && settings.get === undefined && !io.stdout.isTTY);
  const items: unknown[] = [];
  for (let current = page, shown = 0; ;) {
    if (asLines) printResult(io, settings, current, columns, headings);
    else items.push(...pageItems(current));
    shown += pageItems(current).length;
    const cursor = nextCursor(current);
    if (cursor === undefined) break;
    try {
      current = await pageAt(cursor);
    } catch (cause) {
      if (!asLines) throw cause;
      throw new CommandError(exitCodes.unexpectedError, 'incomplete', 'The list is incomplete', {
        cause,
        hint: `${shown} items were printed. Continue with: --cursor ${cursor}`,
      });
    }
    if (nextCursor(current) === cursor) throw new Error('the API returned the same cursor twice');
  }
  if (!asLines) printResult(io, settings, { data: items, has_more: false, next_cursor: null }, columns, headings);
}

const pageItems = (page: unknown): readonly unknown[] => (isRecord(page) && Array.isArray(page['data']) ? page['data'] : []);

const nextCursor = (page: unknown): string | undefined =>
  isRecord(page) && typeof page['next_cursor'] === 'string' ? page['next_cursor'] : undefined;
