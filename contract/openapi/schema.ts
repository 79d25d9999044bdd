import { generateSchema } from '@anatine/zod-openapi';
import type { ZodTypeAny } from 'zod';
import { componentKey } from '../schema/named-schema.ts';
import { isJson, type Json } from '../schema/json.ts';

/** What operations share; filled while they are written. */
export type Components = { schemas: Record<string, Json>; headers: Record<string, Json> };

export const newComponents = (): Components => ({ schemas: {}, headers: {} });

export const sortedByName = (entries: Record<string, Json>): Json =>
  Object.fromEntries(Object.entries(entries).toSorted(([a], [b]) => (a < b ? -1 : 1)));

/** The JSON Schema of a zod schema; named parts go to `components` and are referred to. `side`: what a caller sends, or what it gets. */
export function jsonSchema(schema: ZodTypeAny, side: 'request' | 'response', components: Components): Json {
  const generated: unknown = JSON.parse(JSON.stringify(generateSchema(schema, side === 'response', '3.1')));
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what JSON.parse gives is JSON
  return hoist(mend(generated as Json), components);
}

const says = ['type', '$ref', 'allOf', 'anyOf', 'oneOf', 'enum', 'const'];

/** Mends what the generator gets wrong: enumerations that may be null, and what an overridden type leaves behind of the type before. */
function mend(node: Json): Json {
  const mended: Json = Object.fromEntries(
    Object.entries(node).map(([key, value]) => [
      key,
      Array.isArray(value) ? value.map((item) => (isJson(item) ? mend(item) : item)) : isJson(value) ? mend(value) : value,
    ]),
  );
  if (Array.isArray(mended['enum']) && Array.isArray(mended['type']) && mended['type'].includes('null')) mended['enum'].push(null);
  if (mended['type'] === 'integer' || mended['type'] === 'array') delete mended['pattern'];
  if (mended['type'] === 'integer' && typeof mended['default'] === 'string') mended['default'] = Number(mended['default']);
  for (const [name, property] of Object.entries(isJson(mended['properties']) ? mended['properties'] : {})) {
    // What the generator cannot express it leaves empty, and an empty schema would promise anything.
    if (isJson(property) && !says.some((key) => key in property)) throw new Error(`the schema of ${name} came out empty`);
  }
  return mended;
}

function hoist(node: Json, components: Components): Json {
  const { [componentKey]: name, ...rest } = node;
  const walked: Json = Object.fromEntries(
    Object.entries(rest).map(([key, value]) => [
      key,
      Array.isArray(value)
        ? value.map((item) => (isJson(item) ? hoist(item, components) : item))
        : isJson(value)
          ? hoist(value, components)
          : value,
    ]),
  );
  if (typeof name !== 'string') return walked;
  const known = components.schemas[name];
  if (known !== undefined && JSON.stringify(known) !== JSON.stringify(walked)) throw new Error(`two shapes are called ${name}`);
  components.schemas[name] = walked;
  return { $ref: `#/components/schemas/${name}` };
}
