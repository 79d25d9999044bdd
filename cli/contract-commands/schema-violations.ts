import type { Schema } from './command-specification.ts';

/** What is said of a field that is not there. */
export const requiredMessage = 'is required';

export type Violation = { readonly path: readonly (string | number)[]; readonly message: string };

/** Everything that is wrong with `value`, by the contract's own schema: what the service would refuse is not even sent. */
export function violations(schema: Schema, value: unknown, path: Violation['path'] = []): Violation[] {
  const wrong = (message: string): Violation[] => [{ path, message }];
  if (value === null) return schema.type.includes('null') ? [] : wrong('must not be null');
  if (!schema.type.some((type) => isOfType(type, value))) return wrong(`must be ${typeNames(schema)}`);
  if (schema.enum && !schema.enum.some((choice) => choice === value)) return wrong(`must be one of ${schema.enum.join(', ')}`);
  if (typeof value === 'number') return numberViolations(schema, value).flatMap(wrong);
  if (typeof value === 'string') return textViolations(schema, value).flatMap(wrong);
  if (Array.isArray(value)) return arrayViolations(schema, value, path);
  return isObject(value) ? objectViolations(schema, value, path) : [];
}

export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function isOfType(type: string, value: unknown): boolean {
  if (type === 'integer') return Number.isSafeInteger(value);
  if (type === 'array') return Array.isArray(value);
  if (type === 'object') return isObject(value);
  return typeof value === type;
}

const typeWords: Record<string, string> = {
  integer: 'a whole number',
  number: 'a number',
  string: 'text',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  null: 'null',
};
const typeNames = ({ type }: Schema): string => type.map((name) => typeWords[name] ?? name).join(' or ');

const numberViolations = ({ minimum, maximum }: Schema, value: number): string[] => [
  ...(minimum !== undefined && value < minimum ? [`must be ${minimum} or more`] : []),
  ...(maximum !== undefined && value > maximum ? [`must be ${maximum} or less`] : []),
];

function textViolations({ minLength, maxLength, pattern, description }: Schema, value: string): string[] {
  if (minLength !== undefined && value.length < minLength)
    return [minLength === 1 ? 'must not be empty' : `must have ${minLength} characters or more`];
  if (maxLength !== undefined && value.length > maxLength) return [`must have ${maxLength} characters or fewer`];
  if (pattern !== undefined && !new RegExp(pattern, 'u').test(value))
    return [`must look like ${pattern}${description ? ` (${description.replace(/\.$/, '')})` : ''}`];
  return [];
}

function arrayViolations({ minItems, maxItems, items }: Schema, value: unknown[], path: Violation['path']): Violation[] {
  if (minItems !== undefined && value.length < minItems) return [{ path, message: `must have ${minItems} or more` }];
  if (maxItems !== undefined && value.length > maxItems) return [{ path, message: `must have ${maxItems} or fewer` }];
  return items ? value.flatMap((item, index) => violations(items, item, [...path, index])) : [];
}

function objectViolations(
  { properties = {}, required = [], additionalProperties }: Schema,
  value: Record<string, unknown>,
  path: Violation['path'],
): Violation[] {
  const missing = required.filter((name) => value[name] === undefined).flatMap((name) => missingLeaves(properties[name], [...path, name]));
  const present = Object.entries(value).flatMap(([name, member]) => {
    if (member === undefined) return [];
    const schema = Object.hasOwn(properties, name) ? properties[name] : additionalProperties;
    if (schema === false) return [{ path: [...path, name], message: `is not known; there are: ${Object.keys(properties).join(', ')}` }];
    return schema ? violations(schema, member, [...path, name]) : [];
  });
  return [...missing, ...present];
}

/** Of a missing object, each field that it would need: they are what the person has to type. */
function missingLeaves(schema: Schema | undefined, path: Violation['path']): Violation[] {
  if (!schema?.properties) return [{ path, message: requiredMessage }];
  return (schema.required ?? []).flatMap((name) => missingLeaves(schema.properties?.[name], [...path, name]));
}
