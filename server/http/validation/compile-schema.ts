/* oxlint-disable no-underscore-dangle -- zod has no other name for what a schema is made of */
import { z } from 'zod';

/** What a check gives for a value that does not fit. */
export const misfit = Symbol('misfit');
/** The value as the schema lets it through, or `misfit`. */
type Check = (value: unknown) => unknown;

/**
 * The same as `schema.safeParse`, for the kinds of schema that requests and answers consist of, at a tenth of its cost: every one is
 * checked, and with zod's own parser that would be most of the work of a request. It does not say what is wrong; zod does.
 */
export function compile(schema: z.ZodTypeAny): Check {
  if (isObject(schema)) return object(schema);
  if (isArray(schema)) return array(schema);
  if (isMap(schema)) return record(schema);
  if (isNullable(schema)) return except(null, inner(schema));
  if (isOptional(schema)) return except(undefined, inner(schema));
  if (isDefault(schema)) return orDefault(schema);
  if (schema instanceof z.ZodString) return string(schema);
  if (schema instanceof z.ZodNumber) return number(schema);
  if (schema instanceof z.ZodBoolean) return (value) => (typeof value === 'boolean' ? value : misfit);
  if (schema instanceof z.ZodEnum) return oneOf(new Set<unknown>(z.array(z.string()).parse(schema.options)));
  if (isEffects(schema)) return withEffect(schema);
  if (isPipeline(schema)) return piped(schema);
  return asZodDoes(schema);
}

// what `instanceof` alone would make of them is full of `any`
const isObject = (schema: z.ZodTypeAny): schema is z.ZodObject<z.ZodRawShape> => schema instanceof z.ZodObject;
const isArray = (schema: z.ZodTypeAny): schema is z.ZodArray<z.ZodTypeAny> => schema instanceof z.ZodArray;
const isMap = (schema: z.ZodTypeAny): schema is z.ZodRecord => schema instanceof z.ZodRecord;
const isNullable = (schema: z.ZodTypeAny): schema is z.ZodNullable<z.ZodTypeAny> => schema instanceof z.ZodNullable;
const isOptional = (schema: z.ZodTypeAny): schema is z.ZodOptional<z.ZodTypeAny> => schema instanceof z.ZodOptional;
const isDefault = (schema: z.ZodTypeAny): schema is z.ZodDefault<z.ZodTypeAny> => schema instanceof z.ZodDefault;
const isPipeline = (schema: z.ZodTypeAny): schema is z.ZodPipeline<z.ZodTypeAny, z.ZodTypeAny> => schema instanceof z.ZodPipeline;
const isEffects = (schema: z.ZodTypeAny): schema is z.ZodEffects<z.ZodTypeAny> => schema instanceof z.ZodEffects;

const asZodDoes =
  (schema: z.ZodTypeAny): Check =>
  (value) => {
    const result: { success: boolean; data?: unknown } = schema.safeParse(value);
    return result.success ? result.data : misfit;
  };

const inner = (schema: z.ZodNullable<z.ZodTypeAny> | z.ZodOptional<z.ZodTypeAny>): Check => compile(schema.unwrap());

const except =
  (allowed: null | undefined, check: Check): Check =>
  (value) =>
    value === allowed ? value : check(value);

function orDefault(schema: z.ZodDefault<z.ZodTypeAny>): Check {
  const check = compile(schema.removeDefault());
  return (value) => check(value === undefined ? schema._def.defaultValue() : value);
}

const oneOf =
  (values: ReadonlySet<unknown>): Check =>
  (value) =>
    values.has(value) ? value : misfit;

const isList = (value: unknown): value is readonly unknown[] => Array.isArray(value);
const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null && !Array.isArray(value);

function withEffect(schema: z.ZodEffects<z.ZodTypeAny>): Check {
  const { effect } = schema._def;
  if (effect.type === 'preprocess') return asZodDoes(schema);
  const check = compile(schema.innerType());
  return (value) => {
    const checked = check(value);
    if (checked === misfit) return misfit;
    let fits = true;
    const context = { path: [], addIssue: () => (fits = false) };
    const result: unknown = effect.type === 'transform' ? effect.transform(checked, context) : checked;
    if (effect.type === 'refinement') effect.refinement(checked, context);
    return fits ? result : misfit;
  };
}

function piped(schema: z.ZodPipeline<z.ZodTypeAny, z.ZodTypeAny>): Check {
  const [into, out] = [compile(schema._def.in), compile(schema._def.out)];
  return (value) => {
    const between = into(value);
    return between === misfit ? misfit : out(between);
  };
}

type Field = { readonly name: string; readonly check: Check };

/**
 * Gives the declared fields alone: a column too many in a query reaches nobody. What holds nothing else and is let through as it came is
 * given as it came, here and in lists: most answers are, and a copy of each would cost more than the checks. A strict one takes nothing
 * but declared fields.
 */
function object(schema: z.ZodObject<z.ZodRawShape>): Check {
  const { unknownKeys, catchall } = schema._def;
  if (unknownKeys === 'passthrough' || !(catchall instanceof z.ZodNever)) return asZodDoes(schema);
  const fields = Object.entries(schema.shape).map(([name, field]) => ({ name, check: compile(field) }));
  return (value) => {
    if (!isRecord(value)) return misfit;
    let [declared, shown]: [number, Record<string, unknown> | undefined] = [0, undefined];
    for (const [index, { name, check }] of fields.entries()) {
      const given = value[name];
      const checked = check(given);
      if (checked === misfit) return misfit;
      if (checked !== given) shown ??= declaredOnly(value, fields.slice(0, index));
      if (given !== undefined || name in value) declared += 1;
      else if (checked === undefined) continue;
      if (shown) shown[name] = checked;
    }
    const isMore = Object.keys(value).length > declared;
    if (isMore && unknownKeys === 'strict') return misfit;
    return shown ?? (isMore ? declaredOnly(value, fields) : value);
  };
}

function declaredOnly(value: Record<string, unknown>, fields: readonly Field[]): Record<string, unknown> {
  const shown: Record<string, unknown> = {};
  for (const { name } of fields) if (name in value) shown[name] = value[name];
  return shown;
}

function array(schema: z.ZodArray<z.ZodTypeAny>): Check {
  const { minLength, maxLength, exactLength } = schema._def;
  if (exactLength) return asZodDoes(schema);
  const check = compile(schema.element);
  const [least, most] = [minLength?.value ?? 0, maxLength?.value ?? Infinity];
  return (value: unknown) => {
    if (!isList(value) || value.length < least || value.length > most) return misfit;
    let shown: unknown[] | undefined;
    for (const [index, given] of value.entries()) {
      const checked = check(given);
      if (checked === misfit) return misfit;
      if (checked !== given) (shown ??= [...value])[index] = checked;
    }
    return shown ?? value;
  };
}

function record(schema: z.ZodRecord): Check {
  const [checkKey, checkValue] = [compile(schema.keySchema), compile(schema.valueSchema)];
  return (value) => {
    if (!isRecord(value)) return misfit;
    const shown: Record<string, unknown> = {};
    let isAsItCame = true;
    for (const key of Object.keys(value)) {
      const [name, content] = [checkKey(key), checkValue(value[key])];
      if (typeof name !== 'string' || content === misfit || key === '__proto__') return misfit;
      isAsItCame &&= name === key && content === value[key];
      shown[name] = content;
    }
    return isAsItCame ? value : shown;
  };
}

/** RFC 3339 in UTC; whether the day exists in its month is left to the longer look. */
const instantInUtc = /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8])T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d+)?Z$/;

/** Neither begins nor ends with white space. */
const trimmed = /^(?!\s)[^]*(?<!\s)$/;

function string(schema: z.ZodString): Check {
  let [least, most] = [0, Infinity];
  const patterns: RegExp[] = [];
  const longer = asZodDoes(schema);
  for (const check of schema._def.checks) {
    if (check.kind === 'min') least = Math.max(least, check.value);
    else if (check.kind === 'max') most = Math.min(most, check.value);
    else if (check.kind === 'regex' && !check.regex.global) patterns.push(check.regex);
    else if (check.kind === 'datetime') patterns.push(instantInUtc);
    else if (check.kind === 'trim') patterns.push(trimmed);
    else return longer;
  }
  const fits = (text: string): boolean => text.length >= least && text.length <= most && patterns.every((pattern) => pattern.test(text));
  return (value) => (typeof value === 'string' && fits(value) ? value : longer(value));
}

function number(schema: z.ZodNumber): Check {
  let [least, most, whole] = [-Infinity, Infinity, false];
  for (const check of schema._def.checks) {
    if (check.kind === 'int') whole = true;
    else if (check.kind === 'min' && check.inclusive) least = Math.max(least, check.value);
    else if (check.kind === 'max' && check.inclusive) most = Math.min(most, check.value);
    else return asZodDoes(schema);
  }
  if (schema._def.coerce) return asZodDoes(schema);
  return (value) => {
    const fits = typeof value === 'number' && value >= least && value <= most && (!whole || Number.isInteger(value));
    return fits ? value : misfit;
  };
}
