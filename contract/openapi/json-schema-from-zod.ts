import { generateSchema } from '@anatine/zod-openapi';
import type { ZodTypeAny } from 'zod';
import { schemaNameExtension } from '../schema/openapi-schema-name.ts';
import { isJsonObject, type JsonObject } from '../schema/json.ts';

/** Shared components of the document, collected while its operations are generated. */
export type OpenApiComponents = { schemas: Record<string, JsonObject>; headers: Record<string, JsonObject> };

export const createEmptyOpenApiComponents = (): OpenApiComponents => ({ schemas: {}, headers: {} });

export const sortObjectKeys = (entries: Record<string, JsonObject>): JsonObject =>
  Object.fromEntries(Object.entries(entries).toSorted(([a], [b]) => (a < b ? -1 : 1)));

/**
 * Converts a zod schema to JSON Schema. Named parts are moved to `components` and replaced with references. `side` selects the input or
 * output type of the schema.
 */
export function jsonSchemaFromZodSchema(schema: ZodTypeAny, side: 'request' | 'response', components: OpenApiComponents): JsonObject {
  const generated: unknown = JSON.parse(JSON.stringify(generateSchema(schema, side === 'response', '3.1')));
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- JSON.parse returns only JSON values
  return hoist(correct(generated as JsonObject), components);
}

const typeKeywords = ['type', '$ref', 'allOf', 'anyOf', 'oneOf', 'enum', 'const'];

/**
 * Corrects the generator's errors: nullable enumerations without `null`, and keywords left over from a type that was overridden. For client
 * generators, a type list with a single entry becomes that entry, and integers that need 64 bits get the format `int64`.
 */
function correct(node: JsonObject): JsonObject {
  const corrected: JsonObject = Object.fromEntries(
    Object.entries(node).map(([key, value]) => [
      key,
      Array.isArray(value)
        ? value.map((item) => (isJsonObject(item) ? correct(item) : item))
        : isJsonObject(value)
          ? correct(value)
          : value,
    ]),
  );
  if (Array.isArray(corrected['enum']) && Array.isArray(corrected['type']) && corrected['type'].includes('null'))
    corrected['enum'].push(null);
  if (Array.isArray(corrected['type']) && corrected['type'].length === 1) corrected['type'] = corrected['type'][0] ?? 'null';
  if (corrected['type'] === 'integer' || corrected['type'] === 'array') delete corrected['pattern'];
  if (corrected['type'] === 'integer' && typeof corrected['default'] === 'string') corrected['default'] = Number(corrected['default']);
  for (const [name, property] of Object.entries(isJsonObject(corrected['properties']) ? corrected['properties'] : {})) {
    // The generator returns an empty schema for types that it does not support, and an empty schema would allow any value.
    if (isJsonObject(property) && !typeKeywords.some((key) => key in property)) throw new Error(`the schema of ${name} is empty`);
  }
  return needsInt64(corrected) ? { type: corrected['type'] ?? 'integer', format: 'int64', ...corrected } : corrected;
}

/** Returns whether an integer needs 64 bits. Client generators use 32 bits if the schema does not specify a format. */
const needsInt64 = ({ type, maximum }: JsonObject): boolean =>
  [type].flat().includes('integer') && typeof maximum === 'number' && maximum > 2 ** 31 - 1;

function hoist(node: JsonObject, components: OpenApiComponents): JsonObject {
  const { [schemaNameExtension]: name, ...rest } = node;
  const walked: JsonObject = Object.fromEntries(
    Object.entries(rest).map(([key, value]) => [
      key,
      Array.isArray(value)
        ? value.map((item) => (isJsonObject(item) ? hoist(item, components) : item))
        : isJsonObject(value)
          ? hoist(value, components)
          : value,
    ]),
  );
  if (typeof name !== 'string') return walked;
  const known = components.schemas[name];
  if (known !== undefined && JSON.stringify(known) !== JSON.stringify(walked)) throw new Error(`two different schemas are named ${name}`);
  components.schemas[name] = walked;
  return { $ref: `#/components/schemas/${name}` };
}
