import { randomUUID } from 'node:crypto';
import type { Command } from 'commander';
import type { ResponseWithData, QueryValue } from '@mandate/client-sdk';
import { CommandError } from '../errors/command-error.ts';
import { exitCodes } from '../errors/exit-codes.ts';
import type { CliEnvironment } from '../environment/cli-environment-type.ts';
import { sanitizeForTerminal, serializeJsonForTerminal } from '../terminal/sanitize-and-measure-terminal-text.ts';
import { readGlobalFlags, addCommandWithoutSubcommands } from './global-flags-and-command-groups.ts';
import { readTextFromFileOrStdin } from '../contract-commands/read-file-or-stdin.ts';
import { isRecord } from '../schema/find-schema-violations.ts';
import { openProfileSession } from '../sign-in/profile-session.ts';
import { settingsFromFlagsEnvironmentAndProfile, type Settings } from '../settings/resolve-settings.ts';
import { fetchAndPrintPageOrAllPages } from '../output/fetch-and-print-page-or-all-pages.ts';
import { printResult } from '../output/print-result.ts';

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

const appendValue = (text: string, before: readonly string[] = []): readonly string[] => [...before, text];

export function addSendApiRequestCommand(program: Command, io: CliEnvironment): void {
  const command = addCommandWithoutSubcommands(program, 'api', 'Send any request to the API')
    .description('Send any request to the API with the credentials of the signed-in user.')
    .argument('<path>', 'path with a leading slash, such as /api/v1/orders')
    .option('-X, --method <name>', 'HTTP method (default: GET, or POST if there are fields or a body)')
    .option('-f, --field <name=text>', 'add a text field to the body, or to the query of a GET request', appendValue)
    .option('-F, --typed-field <name=value>', 'like --field, but converts true, false, null and numbers; @file reads a file', appendValue)
    .option('-H, --header <name:text>', 'add a request header', appendValue)
    .option('--input <file>', 'read the JSON body from a file, or from standard input (-)')
    .option('--paginate', 'fetch every page of a list')
    .option('-i, --include', 'also print the response status and headers')
    .option('--silent', 'do not print the response body')
    .action(async (path: string) =>
      callApi(io, settingsFromFlagsEnvironmentAndProfile(readGlobalFlags(command), io), path, command.opts<ApiFlags>()),
    );
}

async function callApi(io: CliEnvironment, settings: Settings, path: string, flags: ApiFlags): Promise<void> {
  // A path such as `//evil.example` would refer to a different host.
  if (!/^\/(?![/\\])/.test(path))
    throw usageError('The path must start with a single slash, as in /api/v1/orders. Tokens are sent only to the service');
  const fields = await parseFields(io, flags);
  const input = flags.input === undefined ? undefined : parseJson(await readTextFromFileOrStdin(io, flags.input));
  const method = (flags.method ?? (input !== undefined || Object.keys(fields).length > 0 ? 'POST' : 'GET')).toUpperCase();
  if (!/^[A-Z]{3,10}$/.test(method)) throw usageError(`${JSON.stringify(method)} is not an HTTP method`);
  const inQuery = method === 'GET' || method === 'HEAD';
  const body = inQuery
    ? undefined
    : isRecord(input)
      ? { ...input, ...fields }
      : (input ?? (Object.keys(fields).length > 0 ? fields : undefined));
  const headers = parseHeaders(flags.header);
  const { client } = await openProfileSession(io, settings);
  const idempotency = method === 'POST' && !('idempotency-key' in headers) ? { idempotencyKey: randomUUID() } : {};
  const options = { signal: io.interrupted, headers, ...idempotency };
  const requestWith = (cursor: string | undefined) =>
    client.request({ method, path, body, query: toQuery(inQuery ? fields : {}, cursor) }, options);
  const asJson = { ...settings, format: settings.format === 'text' ? ('json' as const) : settings.format };
  if (flags.paginate) return fetchAndPrintPageOrAllPages({ io, settings: asJson, all: true, pageAt: requestWith });
  const answer = await requestWith(undefined).withResponse();
  if (flags.include) io.stdout.write(formatHeaders(answer));
  if (!flags.silent && answer.data !== undefined) printResult(io, asJson, answer.data);
}

const usageError = (message: string): CommandError => new CommandError(exitCodes.usage, 'usage', message);

const formatHeaders = ({ status, headers }: ResponseWithData<unknown>): string =>
  [`HTTP ${status}`, ...Array.from(headers, ([name, value]) => `${name}: ${value}`), '']
    .map((line) => `${sanitizeForTerminal(line)}\n`)
    .join('');

function toQuery(fields: Record<string, unknown>, cursor: string | undefined): Record<string, QueryValue> {
  const pairs = Object.entries(fields).map(([name, value]): [string, QueryValue] => [
    name,
    typeof value === 'string' ? value : serializeJsonForTerminal(value),
  ]);
  return { ...Object.fromEntries(pairs), ...(cursor !== undefined && { cursor }) };
}

function parseHeaders(texts: readonly string[] = []): Record<string, string> {
  return Object.fromEntries(
    texts.map((text) => {
      const [, name = '', value = ''] = /^([\w-]+):\s*(.*)$/s.exec(text) ?? [];
      if (name === '') throw usageError(`A header must have the form "name: text", not ${JSON.stringify(text)}`);
      if (name.toLowerCase() === 'authorization')
        throw usageError('The Authorization header cannot be set: sign in or set MANDATE_TOKEN instead');
      return [name.toLowerCase(), value];
    }),
  );
}

async function parseFields(io: CliEnvironment, { field = [], typedField = [] }: ApiFlags): Promise<Record<string, unknown>> {
  const fields: Record<string, unknown> = {};
  for (const [text, typed] of [...field.map((one) => [one, false] as const), ...typedField.map((one) => [one, true] as const)]) {
    const [, name = '', value = ''] = /^([^=]+)=(.*)$/s.exec(text) ?? [];
    if (name === '') throw usageError(`A field must have the form name=value, not ${JSON.stringify(text)}`);
    setField(fields, name, typed ? await parseTypedValue(io, value) : value);
  }
  return fields;
}

const parseTypedValue = async (io: CliEnvironment, text: string): Promise<unknown> => {
  if (text.startsWith('@')) return readTextFromFileOrStdin(io, text.slice(1));
  return /^(?:true|false|null|-?\d+(?:\.\d+)?)$/.test(text) ? (JSON.parse(text) as unknown) : text;
};

/** Sets a field by its path: `a[b]=c` sets a field of a nested object, and `a[]=1` appends to a list. */
function setField(fields: Record<string, unknown>, name: string, value: unknown): void {
  const keys = name.replaceAll(']', '').split('[');
  const [last = '', ...outer] = keys.toReversed();
  let target: Record<string, unknown> = fields;
  for (const key of last === '' ? outer.toReversed().slice(0, -1) : outer.toReversed()) {
    const inner: Record<string, unknown> = isRecord(target[key]) ? target[key] : {};
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

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch (cause) {
    throw new CommandError(exitCodes.usage, 'usage', 'The body is not valid JSON', { cause });
  }
}
