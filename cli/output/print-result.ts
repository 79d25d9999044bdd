import { styleText } from 'node:util';
import { formatMoney } from '@mandate/client-sdk';
import { innerColumns } from './table-columns.ts';
import { CommandFailure } from '../errors/command-error.ts';
import { exitCodes } from '../errors/exit-codes.ts';
import type { Io } from '../environment.ts';
import { jqLines } from './jq-filter.ts';
import { nearest } from '../terminal/did-you-mean.ts';
import { plainText, printableJson, widthOf } from '../terminal/safe-terminal-text.ts';
import { isObject } from '../contract-commands/schema-violations.ts';
import type { Settings } from '../settings/settings.ts';
import { table } from './table.ts';

type Item = Record<string, unknown>;
type Headings = Readonly<Record<string, string>>;
type Shown = { readonly names: readonly string[] | undefined; readonly headings: Headings };

/**
 * Writes a body of the API the way it was asked for: JSON as received, a table for people, tab-separated text for pipes.
 * `columns`: the fields that are shown unless `--fields` chooses others; of a single object, only on a terminal.
 */
export function showResult(io: Io, settings: Settings, body: unknown, columns?: readonly string[], headings: Headings = {}): void {
  const { stdout } = io;
  const chosen = settings.fields;
  const list = listOf(body);
  if (settings.get !== undefined) return stdout.write(pickedLines(body, settings.get));
  if (settings.jq !== undefined && !(settings.format === 'jsonl' && list)) return stdout.write(jsonLine(io, settings, body));
  if (settings.format === 'jsonl' && list)
    return stdout.write(list.map((item) => jsonLine(io, settings, projected(item, chosen))).join(''));
  if (settings.format !== 'text') {
    const projection = list && isObject(body) ? { ...body, data: list.map((item) => projected(item, chosen)) } : projected(body, chosen);
    return stdout.write(`${printableJson(projection, stdout.isTTY && settings.format === 'json' ? 2 : undefined)}\n`);
  }
  if (list) return stdout.write(shownList(io, settings, list, { names: chosen ?? columns, headings }));
  if (isObject(body)) return stdout.write(shownObject(io, settings, body, chosen ?? (stdout.isTTY ? columns : undefined)));
  if (body !== undefined) stdout.write(`${tabular(body)}\n`);
}

/** One value as one line of JSON, or what the `--jq` filter makes of it. */
export const jsonLine = ({ stdout }: Io, { jq }: Settings, value: unknown): string =>
  jq === undefined ? `${printableJson(value)}\n` : jqLines(jq, value, stdout);

const listOf = (body: unknown): Item[] | undefined =>
  isObject(body) && Array.isArray(body['data']) ? body['data'].filter(isObject) : undefined;

/** To be called before anything is sent: a mistake in how to show the result must not come after an order is placed. */
export function checkFields({ fields: chosen }: Settings, known: readonly string[]): void {
  const unknown = chosen?.find((field) => !known.includes(field));
  if (unknown === undefined) return;
  const meant = nearest(unknown, known);
  throw new CommandFailure(exitCodes.usage, 'usage', `There is no field ${unknown}. There are: ${known.join(', ')}`, {
    ...(meant !== undefined && { hint: `Did you mean ${meant}?` }),
  });
}

function shownList(io: Io, settings: Settings, list: readonly Item[], { names: chosen, headings }: Shown): string {
  const [first] = list;
  const names = chosen ?? Object.keys(first ?? {}).filter((name) => !isObject(first?.[name]) && !Array.isArray(first?.[name]));
  if (!io.stdout.isTTY) return list.map((item) => `${names.map((name) => tabular(valueAt(item, name))).join('\t')}\n`).join('');
  if (list.length === 0) return '';
  return tableOf(io, settings, list, names, headings);
}

function shownObject(io: Io, settings: Settings, body: Item, chosen: readonly string[] | undefined): string {
  const names = chosen ?? leafNames(body);
  if (!io.stdout.isTTY) return names.map((name) => `${name}\t${tabular(valueAt(body, name))}\n`).join('');
  const lists = names.filter((name) => isTable(valueAt(body, name)));
  const simple = names.filter((name) => !lists.includes(name) && !isEmpty(valueAt(body, name)));
  const width = Math.max(0, ...simple.map(widthOf));
  const lines = simple.map((name) => `${name.padEnd(width)}  ${readable(body, name)}\n`).join('');
  const tables = lists.map((name) => {
    const value = valueAt(body, name);
    const items = Array.isArray(value) ? value.filter(isObject).map((item) => ({ currency: body['currency'], ...item })) : [];
    const heads = innerColumns[name]?.filter((head) => items.some((item) => Object.hasOwn(item, head)));
    return `\n${tableOf(io, settings, items, heads ?? Object.keys(items[0] ?? {}).filter((head) => head !== 'currency'))}`;
  });
  return lines + tables.join('');
}

const isEmpty = (value: unknown): boolean => value === null || value === undefined || (Array.isArray(value) && value.length === 0);

/** A list of objects; a list of texts is shown like a single one. */
const isTable = (value: unknown): boolean => Array.isArray(value) && !value.every((element) => typeof element === 'string');

const tableOf = (io: Io, settings: Settings, items: readonly Item[], names: readonly string[], headings: Headings = {}): string =>
  table({
    names,
    headings,
    rows: items.map((item) => names.map((name) => readable(item, name))),
    width: io.stdout.columns,
    bold: boldFor(settings),
    paint: paintFor(settings),
  });

const boldFor =
  ({ color }: Settings) =>
  (text: string): string =>
    color ? styleText('bold', text, { validateStream: false }) : text;

const statusColors = {
  green: ['paid', 'succeeded', 'delivered', 'shipped', 'active', 'fulfilled'],
  yellow: ['pending', 'processing', 'requires_action', 'running', 'queued', 'unpaid'],
  red: ['failed', 'canceled', 'declined', 'lost', 'suspended', 'closed'],
} as const;

const paintFor =
  ({ color }: Settings) =>
  (head: string, text: string): string => {
    if (!color || !/(?:^|_)status$/.test(head)) return text;
    const [name] = (['green', 'yellow', 'red'] as const).filter((one) => statusColors[one].some((status) => status === text));
    return name ? styleText(name, text, { validateStream: false }) : text;
  };

const leafNames = (item: Item, prefix = ''): string[] =>
  Object.entries(item).flatMap(([name, value]) => (isObject(value) ? leafNames(value, `${prefix}${name}.`) : [prefix + name]));

const valueAt = (item: unknown, path: string): unknown =>
  path.split('.').reduce((value: unknown, name) => (isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined), item);

const projected = (item: unknown, chosen: readonly string[] | undefined): unknown =>
  chosen ? Object.fromEntries(chosen.map((name) => [name, valueAt(item, name) ?? null])) : item;

/** One cell of tab-separated text: as on the wire. */
const tabular = (value: unknown): string => {
  if (value === null || value === undefined) return '';
  return plainText((typeof value === 'string' ? value : JSON.stringify(value)).replaceAll(/[\t\n\r]+/g, ' '));
};

const moneyName = /(?:^|_)(?:total|subtotal|price|tax|amount)$/;

/** One cell for people: money with its currency, moments in the time of the place. */
function readable(item: Item, path: string): string {
  const value = valueAt(item, path);
  const currency = item['currency'];
  if (typeof value === 'number' && typeof currency === 'string' && /^[A-Z]{3}$/.test(currency) && moneyName.test(path))
    return formatMoney(value, currency);
  if (typeof value === 'string' && /^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(value)) return new Date(value).toLocaleString('sv');
  if (Array.isArray(value) && value.every((element) => typeof element === 'string')) return plainText(value.join(' '));
  return tabular(value);
}

/** The values at `path`, one per line; lists on the way are gone through. */
function pickedLines(body: unknown, path: string): string {
  const picked = path
    .split('.')
    .reduce<unknown[]>((values, name) => values.flatMap(elementsOf).map((value) => valueAt(value, name)), [body]);
  const found = picked.flatMap(elementsOf).filter((value) => value !== undefined);
  if (found.length === 0 && listOf(body)?.length !== 0)
    throw new CommandFailure(exitCodes.unforeseen, 'nothing_there', `The answer has nothing at ${path}`);
  return found.map((value) => `${typeof value === 'string' ? plainText(value) : printableJson(value)}\n`).join('');
}

const elementsOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : [value]);
