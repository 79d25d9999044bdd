import { parseDurationMs } from '../settings/parse-duration.ts';
import type { FieldError } from '../errors/command-error.ts';
import type { JsonSchemaSubset } from '../schema/command-spec-type.ts';
import { snakeToKebabCase, type ContractFlag } from './flags-from-command-spec.ts';
import { isRecord, type SchemaViolation } from '../schema/find-schema-violations.ts';

/** The raw values of each flag, in command-line order. */
export type RawFlagValues = ReadonlyMap<ContractFlag, readonly string[]>;

/** Parses the flags for one part of the request: query or body. The flag values override the fields of `base`. */
export function parseFlagValues(
  typed: RawFlagValues,
  location: ContractFlag['location'],
  base: Record<string, unknown>,
  now: Date,
): Record<string, unknown> {
  const values = structuredClone(base);
  for (const [flag, texts] of typed) if (flag.location === location) setPath(values, flag.path, parseValue(flag, texts, now));
  return values;
}

function setPath(target: Record<string, unknown>, path: readonly string[], value: unknown): void {
  const [name = '', ...rest] = path;
  if (rest.length === 0) {
    target[name] = value;
    return;
  }
  const inner = isRecord(target[name]) ? target[name] : {};
  target[name] = inner;
  setPath(inner, rest, value);
}

function parseValue({ kind, schema }: ContractFlag, texts: readonly string[], now: Date): unknown {
  const last = texts.at(-1) ?? '';
  if (kind === 'list') return texts.flatMap((text) => text.split(',')).map((text) => parseScalar(schema.items ?? schema, text, now));
  if (kind === 'objects') return texts.map((text) => parseObject(schema.items ?? schema, text, now));
  if (kind === 'pairs') return Object.assign({}, ...texts.map((text) => parseObject(schema, text, now)));
  return kind === 'json' ? parseJson(last) : parseScalar(schema, last, now);
}

/** Converts text to the type of the schema. Returns invalid text unchanged, so that request validation reports it. */
function parseScalar({ type, format }: JsonSchemaSubset, text: string, now: Date): unknown {
  if (type.includes('null') && text === 'null') return null;
  if (type.includes('integer') || type.includes('number')) return /^-?\d+(?:\.\d+)?$/.test(text) ? Number(text) : text;
  if (type.includes('boolean')) return text === 'true' ? true : text === 'false' ? false : text;
  return format === 'date-time' ? parseTimestamp(text, now) : text;
}

/** Parses `key=value,key=value` or a JSON object. */
function parseObject(schema: JsonSchemaSubset, text: string, now: Date): unknown {
  if (text.trimStart().startsWith('{')) return parseJson(text);
  // A comma separates pairs only if the schema lists the allowed keys; otherwise, it is part of the value.
  const pairs = schema.properties ? text.split(',') : [text];
  return Object.fromEntries(
    pairs.map((pair) => {
      const [key = '', ...value] = pair.split('=');
      const name = schema.properties ? key.trim().replaceAll('-', '_') : key;
      const member = schema.properties?.[name] ?? (schema.additionalProperties || undefined);
      return [name, member ? parseScalar(member, value.join('='), now) : value.join('=')];
    }),
  );
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** Converts an age such as `7d` or `24h` to a timestamp in the past, and a date to midnight UTC. Returns any other text unchanged. */
function parseTimestamp(text: string, now: Date): string {
  const agoMs = parseDurationMs(text);
  if (agoMs !== undefined) {
    const timestamp = new Date(now.getTime() - agoMs).toISOString();
    // The API requires four-digit years. If an age results in any other year, the age is sent unchanged, so that the API error quotes it.
    return /^\d{4}-/.test(timestamp) ? timestamp : text;
  }
  return /^\d{4}-\d\d-\d\d$/.test(text) ? `${text}T00:00:00.000Z` : text;
}

/** Converts a schema violation to an error that names the invalid flag. */
export function flagErrorFromSchemaViolation(
  flags: readonly ContractFlag[],
  location: ContractFlag['location'],
  { path, message }: SchemaViolation,
): FieldError {
  const flag = flags.find((candidate) => candidate.location === location && candidate.path.every((name, index) => path[index] === name));
  // For a list flag, the violation's message already identifies the invalid value.
  const rest = (flag?.kind === 'list' ? [] : path.slice(flag?.path.length ?? 0)).map((part) =>
    typeof part === 'number' ? `[${part}]` : `.${snakeToKebabCase(part)}`,
  );
  const dotted = path.join('.');
  return {
    flag: flag ? flag.name + rest.join('') : `--${path.map((part) => snakeToKebabCase(String(part))).join('.')}`,
    path: dotted,
    message,
  };
}
