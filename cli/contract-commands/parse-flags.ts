import type { FieldFailure } from '../errors/command-error.ts';
import type { Schema } from './command-specification.ts';
import { kebabCase, type Flag } from './flags.ts';
import { isObject, type Violation } from './schema-violations.ts';

/** What was typed for each flag, in the order it was typed. */
export type Typed = ReadonlyMap<Flag, readonly string[]>;

/** The part of the request that the flags of `place` make, laid over `base`. */
export function valuesOf(typed: Typed, place: Flag['place'], base: Record<string, unknown>, now: Date): Record<string, unknown> {
  const values = structuredClone(base);
  for (const [flag, texts] of typed) if (flag.place === place) setAt(values, flag.path, valueOf(flag, texts, now));
  return values;
}

function setAt(target: Record<string, unknown>, path: readonly string[], value: unknown): void {
  const [name = '', ...rest] = path;
  if (rest.length === 0) {
    target[name] = value;
    return;
  }
  const inner = isObject(target[name]) ? target[name] : {};
  target[name] = inner;
  setAt(inner, rest, value);
}

function valueOf({ kind, schema }: Flag, texts: readonly string[], now: Date): unknown {
  const last = texts.at(-1) ?? '';
  if (kind === 'list') return texts.flatMap((text) => text.split(',')).map((text) => leafOf(schema.items ?? schema, text, now));
  if (kind === 'objects') return texts.map((text) => objectOf(schema.items ?? schema, text, now));
  if (kind === 'pairs') return Object.assign({}, ...texts.map((text) => objectOf(schema, text, now)));
  return kind === 'json' ? parsedJson(last) : leafOf(schema, last, now);
}

/** What cannot become what the schema wants stays text, so that the check of the whole request tells it with everything else. */
function leafOf({ type, format }: Schema, text: string, now: Date): unknown {
  if (type.includes('null') && text === 'null') return null;
  if (type.includes('integer') || type.includes('number')) return /^-?\d+(?:\.\d+)?$/.test(text) ? Number(text) : text;
  if (type.includes('boolean')) return text === 'true' ? true : text === 'false' ? false : text;
  return format === 'date-time' ? instantOf(text, now) : text;
}

/** `key=value,key=value`, or JSON. */
function objectOf(schema: Schema, text: string, now: Date): unknown {
  if (text.trimStart().startsWith('{')) return parsedJson(text);
  // Without known keys a comma belongs to the value.
  const pairs = schema.properties ? text.split(',') : [text];
  return Object.fromEntries(
    pairs.map((pair) => {
      const [key = '', ...value] = pair.split('=');
      const name = schema.properties ? key.trim().replaceAll('-', '_') : key;
      const member = schema.properties?.[name] ?? (schema.additionalProperties || undefined);
      return [name, member ? leafOf(member, value.join('='), now) : value.join('=')];
    }),
  );
}

function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

const unitMs: Record<string, number> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** `500ms`, `30s`, `5m`, `1h`, `7d` in milliseconds. */
export function durationMs(text: string): number | undefined {
  const [, count, unit = ''] = /^(\d{1,6})(ms|s|m|h|d)$/.exec(text) ?? [];
  const factor = unitMs[unit];
  return count === undefined || factor === undefined ? undefined : Number(count) * factor;
}

/** `7d` and `24h` are so long ago, a date is its midnight UTC, anything else is left for the check. */
function instantOf(text: string, now: Date): string {
  const agoMs = durationMs(text);
  if (agoMs !== undefined) {
    const timestamp = new Date(now.getTime() - agoMs).toISOString();
    // The API takes years of four digits: before them, it names what was typed.
    return /^\d{4}-/.test(timestamp) ? timestamp : text;
  }
  return /^\d{4}-\d\d-\d\d$/.test(text) ? `${text}T00:00:00.000Z` : text;
}

/** A violation, told by the flag the person typed or would have to type. */
export function fieldFailure(flags: readonly Flag[], place: Flag['place'], { path, message }: Violation): FieldFailure {
  const flag = flags.find((candidate) => candidate.place === place && candidate.path.every((name, index) => path[index] === name));
  // Which of several values it was is plain from the value itself.
  const rest = (flag?.kind === 'list' ? [] : path.slice(flag?.path.length ?? 0)).map((part) =>
    typeof part === 'number' ? `[${part}]` : `.${kebabCase(part)}`,
  );
  const dotted = path.join('.');
  return { flag: flag ? flag.name + rest.join('') : `--${path.map((part) => kebabCase(String(part))).join('.')}`, path: dotted, message };
}
