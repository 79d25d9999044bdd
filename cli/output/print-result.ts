import { styleText } from 'node:util';
import { formatMoney } from '@mandate/client-sdk';
import { tableColumnsOfNestedLists } from './table-columns.ts';
import { CommandError } from '../errors/command-error.ts';
import { exitCodes } from '../errors/exit-codes.ts';
import type { CliEnvironment } from '../environment/cli-environment-type.ts';
import { applyJqFilter } from './jq-filter.ts';
import { findClosestMatch } from '../terminal/find-closest-match.ts';
import { sanitizeForTerminal, serializeJsonForTerminal, getDisplayWidth } from '../terminal/sanitize-and-measure-terminal-text.ts';
import { isRecord } from '../schema/find-schema-violations.ts';
import type { Settings } from '../settings/resolve-settings.ts';
import { renderTextTable } from './text-table.ts';

type Item = Record<string, unknown>;
type Headings = Readonly<Record<string, string>>;
type ListLayout = { readonly names: readonly string[] | undefined; readonly headings: Headings };

/**
 * Prints a response body in the requested format: JSON as received, a table on a terminal, or tab-separated text if the output is piped.
 *
 * @param columns the default fields, which `--fields` overrides; for a single object they apply only on a terminal
 */
export function printResult(
  io: CliEnvironment,
  settings: Settings,
  body: unknown,
  columns?: readonly string[],
  headings: Headings = {},
): void {
  const { stdout } = io;
  const chosen = settings.fields;
  const list = listItems(body);
  if (settings.get !== undefined) return stdout.write(formatPath(body, settings.get));
  if (settings.jq !== undefined && !(settings.format === 'jsonl' && list))
    return stdout.write(formatJsonLineOrJqResults(io, settings, body));
  if (settings.format === 'jsonl' && list)
    return stdout.write(list.map((item) => formatJsonLineOrJqResults(io, settings, pickFields(item, chosen))).join(''));
  if (settings.format !== 'text') {
    const projection = list && isRecord(body) ? { ...body, data: list.map((item) => pickFields(item, chosen)) } : pickFields(body, chosen);
    return stdout.write(`${serializeJsonForTerminal(projection, stdout.isTTY && settings.format === 'json' ? 2 : undefined)}\n`);
  }
  if (list) return stdout.write(formatList(io, settings, list, { names: chosen ?? columns, headings }));
  if (isRecord(body)) return stdout.write(formatObject(io, settings, body, chosen ?? (stdout.isTTY ? columns : undefined)));
  if (body !== undefined) stdout.write(`${toTsvCell(body)}\n`);
}

/** Formats a value as one line of JSON, or as the `--jq` filter's results. */
export const formatJsonLineOrJqResults = ({ stdout }: CliEnvironment, { jq }: Settings, value: unknown): string =>
  jq === undefined ? `${serializeJsonForTerminal(value)}\n` : applyJqFilter(jq, value, stdout);

const listItems = (body: unknown): Item[] | undefined =>
  isRecord(body) && Array.isArray(body['data']) ? body['data'].filter(isRecord) : undefined;

/**
 * Throws if `--fields` contains an unknown field. Commands call this function before any request, so that an unknown field cannot cause an
 * error after an order has been placed.
 */
export function assertRequestedFieldsKnown({ fields: chosen }: Settings, known: readonly string[]): void {
  const unknown = chosen?.find((field) => !known.includes(field));
  if (unknown === undefined) return;
  const closest = findClosestMatch(unknown, known);
  throw new CommandError(exitCodes.usage, 'usage', `Unknown field: ${unknown}. Available fields: ${known.join(', ')}`, {
    ...(closest !== undefined && { hint: `Did you mean ${closest}?` }),
  });
}

function formatList(io: CliEnvironment, settings: Settings, list: readonly Item[], { names: chosen, headings }: ListLayout): string {
  const [first] = list;
  const names = chosen ?? Object.keys(first ?? {}).filter((name) => !isRecord(first?.[name]) && !Array.isArray(first?.[name]));
  if (!io.stdout.isTTY) return list.map((item) => `${names.map((name) => toTsvCell(valueAt(item, name))).join('\t')}\n`).join('');
  if (list.length === 0) return '';
  return formatTable(io, settings, list, names, headings);
}

function formatObject(io: CliEnvironment, settings: Settings, body: Item, chosen: readonly string[] | undefined): string {
  const names = chosen ?? leafPaths(body);
  if (!io.stdout.isTTY) return names.map((name) => `${name}\t${toTsvCell(valueAt(body, name))}\n`).join('');
  const lists = names.filter((name) => isTable(valueAt(body, name)));
  const simple = names.filter((name) => !lists.includes(name) && !isEmpty(valueAt(body, name)));
  const width = Math.max(0, ...simple.map(getDisplayWidth));
  const lines = simple.map((name) => `${name.padEnd(width)}  ${toDisplayCell(body, name)}\n`).join('');
  const tables = lists.map((name) => {
    const value = valueAt(body, name);
    const items = Array.isArray(value) ? value.filter(isRecord).map((item) => ({ currency: body['currency'], ...item })) : [];
    const heads = tableColumnsOfNestedLists[name]?.filter((head) => items.some((item) => Object.hasOwn(item, head)));
    return `\n${formatTable(io, settings, items, heads ?? Object.keys(items[0] ?? {}).filter((head) => head !== 'currency'))}`;
  });
  return lines + tables.join('');
}

const isEmpty = (value: unknown): boolean => value === null || value === undefined || (Array.isArray(value) && value.length === 0);

/** Returns whether a value is shown as a table. A list of strings is shown in a single cell. */
const isTable = (value: unknown): boolean => Array.isArray(value) && !value.every((element) => typeof element === 'string');

const formatTable = (
  io: CliEnvironment,
  settings: Settings,
  items: readonly Item[],
  names: readonly string[],
  headings: Headings = {},
): string =>
  renderTextTable({
    names,
    headings,
    rows: items.map((item) => names.map((name) => toDisplayCell(item, name))),
    width: io.stdout.columns,
    bold: boldStyle(settings),
    paint: statusStyle(settings),
  });

const boldStyle =
  ({ color }: Settings) =>
  (text: string): string =>
    color ? styleText('bold', text, { validateStream: false }) : text;

const statusColors = {
  green: ['paid', 'succeeded', 'delivered', 'shipped', 'active', 'fulfilled'],
  yellow: ['pending', 'processing', 'requires_action', 'running', 'queued', 'unpaid'],
  red: ['failed', 'canceled', 'declined', 'lost', 'suspended', 'closed'],
} as const;

const statusStyle =
  ({ color }: Settings) =>
  (head: string, text: string): string => {
    if (!color || !/(?:^|_)status$/.test(head)) return text;
    const [name] = (['green', 'yellow', 'red'] as const).filter((one) => statusColors[one].some((status) => status === text));
    return name ? styleText(name, text, { validateStream: false }) : text;
  };

const leafPaths = (item: Item, prefix = ''): string[] =>
  Object.entries(item).flatMap(([name, value]) => (isRecord(value) ? leafPaths(value, `${prefix}${name}.`) : [prefix + name]));

const valueAt = (item: unknown, path: string): unknown =>
  path.split('.').reduce((value: unknown, name) => (isRecord(value) && Object.hasOwn(value, name) ? value[name] : undefined), item);

const pickFields = (item: unknown, chosen: readonly string[] | undefined): unknown =>
  chosen ? Object.fromEntries(chosen.map((name) => [name, valueAt(item, name) ?? null])) : item;

/** Formats a cell of tab-separated text. Amounts and timestamps have the same form as in the JSON response. */
const toTsvCell = (value: unknown): string => {
  if (value === null || value === undefined) return '';
  return sanitizeForTerminal((typeof value === 'string' ? value : JSON.stringify(value)).replaceAll(/[\t\n\r]+/g, ' '));
};

const moneyFieldPattern = /(?:^|_)(?:total|subtotal|price|tax|amount)$/;

/** Formats a cell on a terminal: amounts with their currency, timestamps in local time. */
function toDisplayCell(item: Item, path: string): string {
  const value = valueAt(item, path);
  const currency = item['currency'];
  if (typeof value === 'number' && typeof currency === 'string' && /^[A-Z]{3}$/.test(currency) && moneyFieldPattern.test(path))
    return formatMoney(value, currency);
  if (typeof value === 'string' && /^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(value)) return new Date(value).toLocaleString('sv');
  if (Array.isArray(value) && value.every((element) => typeof element === 'string')) return sanitizeForTerminal(value.join(' '));
  return toTsvCell(value);
}

/** Formats the values at `path`, one per line. If the path leads to a list, prints each element on its own line. */
function formatPath(body: unknown, path: string): string {
  const picked = path
    .split('.')
    .reduce<unknown[]>((values, name) => values.flatMap(toElements).map((value) => valueAt(value, name)), [body]);
  const found = picked.flatMap(toElements).filter((value) => value !== undefined);
  if (found.length === 0 && listItems(body)?.length !== 0)
    throw new CommandError(exitCodes.unexpectedError, 'nothing_there', `The response has no value at ${path}`);
  return found.map((value) => `${typeof value === 'string' ? sanitizeForTerminal(value) : serializeJsonForTerminal(value)}\n`).join('');
}

const toElements = (value: unknown): unknown[] => (Array.isArray(value) ? value : [value]);
