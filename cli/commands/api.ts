import { randomUUID } from 'node:crypto';
import type { Command } from 'commander';
import type { Answer, QueryValue } from '@mandate/client-sdk';
import { CommandFailure } from '../errors/command-error.ts';
import { exitCodes } from '../errors/exit-codes.ts';
import type { Io } from '../environment.ts';
import { plainText, printableJson } from '../terminal/safe-terminal-text.ts';
import { globalFlagsOf, leafCommand } from '../command-helpers.ts';
import { readInput } from '../contract-commands/read-json-input.ts';
import { isObject } from '../contract-commands/schema-violations.ts';
import { openSession } from '../sign-in/session.ts';
import { settingsOf, type Settings } from '../settings/settings.ts';
import { showPages } from '../output/print-pages.ts';
import { showResult } from '../output/print-result.ts';

type ApiFlags = {
  readonly method?: string;
  readonly field?: readonly string[];
  readonly typedField?: readonly string[];
  readonly header?: readonly string[];
  readonly input?: string;
  readonly include?: boolean;
  readonly silent?: boolean;
  readonly paginate?: boolean;
};

const repeated = (text: string, before: readonly string[] = []): readonly string[] => [...before, text];

export function addApi(program: Command, io: Io): void {
  const command = leafCommand(program, 'api', 'Any request of the API')
    .description('Any request of the API, as whoever is signed in.')
    .argument('<path>', 'begins with a slash: /api/v1/orders')
    .option('-X, --method <name>', 'GET, or POST when there is a body')
    .option('-f, --field <name=text>', 'a field of the body, or of the query of a GET', repeated)
    .option('-F, --typed-field <name=value>', 'the same with true, false, null, numbers and @file', repeated)
    .option('-H, --header <name:text>', 'a header', repeated)
    .option('--input <file>', 'the JSON body; - reads standard input')
    .option('--paginate', 'every page of a list')
    .option('-i, --include', 'status and headers too')
    .option('--silent', 'not the body')
    .action(async (path: string) => callApi(io, settingsOf(globalFlagsOf(command), io), path, command.opts<ApiFlags>()));
}

async function callApi(io: Io, settings: Settings, path: string, flags: ApiFlags): Promise<void> {
  // "//elsewhere" would be another host.
  if (!/^\/(?![/\\])/.test(path)) throw usage('The path begins with one slash: /api/v1/orders. Tokens go to no other address');
  const fields = await fieldsOf(io, flags);
  const given = flags.input === undefined ? undefined : parsed(await readInput(io, flags.input));
  const method = (flags.method ?? (given !== undefined || Object.keys(fields).length > 0 ? 'POST' : 'GET')).toUpperCase();
  if (!/^[A-Z]{3,10}$/.test(method)) throw usage(`${JSON.stringify(method)} is not a method`);
  const inQuery = method === 'GET' || method === 'HEAD';
  const body = inQuery
    ? undefined
    : isObject(given)
      ? { ...given, ...fields }
      : (given ?? (Object.keys(fields).length > 0 ? fields : undefined));
  const headers = headersOf(flags.header);
  const { client } = await openSession(io, settings);
  const repeatable = method === 'POST' && !('idempotency-key' in headers) ? { idempotencyKey: randomUUID() } : {};
  const options = { signal: io.interrupted, headers, ...repeatable };
  const requestWith = (cursor: string | undefined) =>
    client.request({ method, path, body, query: queryOf(inQuery ? fields : {}, cursor) }, options);
  const asJson = { ...settings, format: settings.format === 'text' ? ('json' as const) : settings.format };
  if (flags.paginate) return showPages({ io, settings: asJson, all: true, pageAt: requestWith });
  const answer = await requestWith(undefined).withResponse();
  if (flags.include) io.stdout.write(headLines(answer));
  if (!flags.silent && answer.data !== undefined) showResult(io, asJson, answer.data);
}

const usage = (message: string): CommandFailure => new CommandFailure(exitCodes.usage, 'usage', message);

const headLines = ({ status, headers }: Answer<unknown>): string =>
  [`HTTP ${status}`, ...Array.from(headers, ([name, value]) => `${name}: ${value}`), ''].map((line) => `${plainText(line)}\n`).join('');

function queryOf(fields: Record<string, unknown>, cursor: string | undefined): Record<string, QueryValue> {
  const pairs = Object.entries(fields).map(([name, value]): [string, QueryValue] => [
    name,
    typeof value === 'string' ? value : printableJson(value),
  ]);
  return { ...Object.fromEntries(pairs), ...(cursor !== undefined && { cursor }) };
}

function headersOf(texts: readonly string[] = []): Record<string, string> {
  return Object.fromEntries(
    texts.map((text) => {
      const [, name = '', value = ''] = /^([\w-]+):\s*(.*)$/s.exec(text) ?? [];
      if (name === '') throw usage(`A header is written "name: text", not ${JSON.stringify(text)}`);
      if (name.toLowerCase() === 'authorization') throw usage('Whose token is sent is decided by signing in or by MANDATE_TOKEN');
      return [name.toLowerCase(), value];
    }),
  );
}

async function fieldsOf(io: Io, { field = [], typedField = [] }: ApiFlags): Promise<Record<string, unknown>> {
  const fields: Record<string, unknown> = {};
  for (const [text, typed] of [...field.map((one) => [one, false] as const), ...typedField.map((one) => [one, true] as const)]) {
    const [, name = '', value = ''] = /^([^=]+)=(.*)$/s.exec(text) ?? [];
    if (name === '') throw usage(`A field is written name=value, not ${JSON.stringify(text)}`);
    place(fields, name, typed ? await typedValue(io, value) : value);
  }
  return fields;
}

const typedValue = async (io: Io, text: string): Promise<unknown> => {
  if (text.startsWith('@')) return readInput(io, text.slice(1));
  return /^(?:true|false|null|-?\d+(?:\.\d+)?)$/.test(text) ? (JSON.parse(text) as unknown) : text;
};

/** `a[b]=c` is an object in an object, `a[]=1` an element of a list. */
function place(fields: Record<string, unknown>, name: string, value: unknown): void {
  const keys = name.replaceAll(']', '').split('[');
  const [last = '', ...outer] = keys.toReversed();
  let target: Record<string, unknown> = fields;
  for (const key of last === '' ? outer.toReversed().slice(0, -1) : outer.toReversed()) {
    const inner: Record<string, unknown> = isObject(target[key]) ? target[key] : {};
    target[key] = inner;
    target = inner;
  }
  if (last !== '') {
    target[last] = value;
    return;
  }
  const listName = outer[0] ?? '';
  const before: unknown = target[listName];
  target[listName] = [...(Array.isArray(before) ? (before as unknown[]) : []), value];
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch (cause) {
    throw new CommandFailure(exitCodes.usage, 'usage', 'The body is not valid JSON', { cause });
  }
}
