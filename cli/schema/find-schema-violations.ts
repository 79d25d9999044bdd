import type { JsonSchemaSubset } from './command-spec-type.ts';

/** The message for a missing required field. */
export const requiredFieldMessage = 'is required';

export type SchemaViolation = { readonly path: readonly (string | number)[]; readonly message: string };

/** Returns every violation of the contract's schema, so that the command does not send requests that the service would reject. */
export function findSchemaViolations(schema: JsonSchemaSubset, value: unknown, path: SchemaViolation['path'] = []): SchemaViolation[] {
  const violation = (message: string): SchemaViolation[] => [{ path, message }];
  if (value === null) return schema.type.includes('null') ? [] : violation('must not be null');
  if (!schema.type.some((type) => isOfType(type, value))) return violation(`must be ${describeTypes(schema)}`);
  if (schema.enum && !schema.enum.some((choice) => choice === value)) return violation(`must be one of ${schema.enum.join(', ')}`);
  if (typeof value === 'number') return numberViolations(schema, value).flatMap(violation);
  if (typeof value === 'string') return textViolations(schema, value).flatMap(violation);
  if (Array.isArray(value)) return arrayViolations(schema, value, path);
  return isRecord(value) ? objectViolations(schema, value, path) : [];
}

export const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function isOfType(type: string, value: unknown): boolean {
  if (type === 'integer') return Number.isSafeInteger(value);
  if (type === 'array') return Array.isArray(value);
  if (type === 'object') return isRecord(value);
  return typeof value === type;
}

const typeDescriptions: Record<string, string> = {
  integer: 'a whole number',
  number: 'a number',
  string: 'text',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  null: 'null',
};
const describeTypes = ({ type }: JsonSchemaSubset): string => type.map((name) => typeDescriptions[name] ?? name).join(' or ');

const numberViolations = ({ minimum, maximum }: JsonSchemaSubset, value: number): string[] => [
  ...(minimum !== undefined && value < minimum ? [`must be ${minimum} or more`] : []),
  ...(maximum !== undefined && value > maximum ? [`must be ${maximum} or less`] : []),
];

function textViolations({ minLength, maxLength, pattern, description }: JsonSchemaSubset, value: string): string[] {
  if (minLength !== undefined && value.length < minLength)
    return [minLength === 1 ? 'must not be empty' : `must have ${minLength} characters or more`];
  if (maxLength !== undefined && value.length > maxLength) return [`must have ${maxLength} characters or fewer`];
  if (pattern !== undefined && !new RegExp(pattern, 'u').test(value))
    return [`must match ${pattern}${description ? ` (${description.replace(/\.$/, '')})` : ''}`];
  return [];
}

function arrayViolations(
  { minItems, maxItems, items }: JsonSchemaSubset,
  value: unknown[],
  path: SchemaViolation['path'],
): SchemaViolation[] {
  if (minItems !== undefined && value.length < minItems) return [{ path, message: `must have ${minItems} or more items` }];
  if (maxItems !== undefined && value.length > maxItems) return [{ path, message: `must have ${maxItems} or fewer items` }];
  return items ? value.flatMap((item, index) => findSchemaViolations(items, item, [...path, index])) : [];
}

function objectViolations(
  { properties = {}, required = [], additionalProperties }: JsonSchemaSubset,
  value: Record<string, unknown>,
  path: SchemaViolation['path'],
): SchemaViolation[] {
  const missing = required.filter((name) => value[name] === undefined).flatMap((name) => missingFields(properties[name], [...path, name]));
  const present = Object.entries(value).flatMap(([name, member]) => {
    if (member === undefined) return [];
    const schema = Object.hasOwn(properties, name) ? properties[name] : additionalProperties;
    if (schema === false)
      return [{ path: [...path, name], message: `is unknown; allowed fields are: ${Object.keys(properties).join(', ')}` }];
    return schema ? findSchemaViolations(schema, member, [...path, name]) : [];
  });
  return [...missing, ...present];
}

/** Returns a violation for each required leaf field of a missing object, because the user must provide these fields. */
function missingFields(schema: JsonSchemaSubset | undefined, path: SchemaViolation['path']): SchemaViolation[] {
  if (!schema?.properties) return [{ path, message: requiredFieldMessage }];
  return (schema.required ?? []).flatMap((name) => missingFields(schema.properties?.[name], [...path, name]));
}
