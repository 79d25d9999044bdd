import { createOpenApiDocument } from '@mandate/contract/openapi';
import { z } from 'zod';

/** A JSON Schema object. The generator rejects unknown keywords. */
export type Schema = {
  readonly [word: string]: unknown;
};

export type Parameter = {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly required: boolean;
  readonly schema: Schema;
};

/** An operation, as described by the OpenAPI document. */
export type Operation = {
  /** Operation ID, such as `orders.create`; in version 2, `v2 orders.create`. */
  readonly id: string;
  readonly method: string;
  /** Path template, such as `/api/v1/orders/{order_id}`. */
  readonly path: string;
  readonly parameters: readonly Parameter[];
  /** Request bodies by media type. */
  readonly bodies: readonly { readonly type: string; readonly schema: Schema; readonly example: unknown }[];
  /** Sets of scopes, each of which is sufficient. An empty list means that no token is needed. */
  readonly security: readonly (readonly string[])[];
};

const schema = z.record(z.unknown());
const document = z.object({
  paths: z.record(
    z.record(
      z.object({
        operationId: z.string(),
        security: z.array(z.object({ oauth2: z.array(z.string()).optional() })).default([]),
        parameters: z
          .array(z.object({ name: z.string(), in: z.enum(['path', 'query', 'header']), required: z.boolean().default(false), schema }))
          .default([]),
        requestBody: z.object({ content: z.record(z.object({ schema, example: z.unknown() })) }).optional(),
      }),
    ),
  ),
  components: z.object({ schemas: z.record(schema) }),
});

function listOperations(apiVersion: 'v1' | 'v2', prefix: string): Operation[] {
  const { paths, components } = document.parse(JSON.parse(JSON.stringify(createOpenApiDocument('https://mandate.example', apiVersion))));
  const resolveReferences = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(resolveReferences);
    if (typeof value !== 'object' || value === null) return value;
    if ('$ref' in value) return resolveReferences(components.schemas[String(value.$ref).replace('#/components/schemas/', '')]);
    return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, resolveReferences(part)]));
  };
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      id: prefix + operation.operationId,
      method: method.toUpperCase(),
      path,
      parameters: operation.parameters.map((parameter) => ({ ...parameter, schema: schema.parse(resolveReferences(parameter.schema)) })),
      bodies: Object.entries(operation.requestBody?.content ?? {}).map(([type, body]) => ({
        type,
        schema: schema.parse(resolveReferences(body.schema)),
        example: body.example,
      })),
      security: operation.security.flatMap(({ oauth2 }) => (oauth2 ? [oauth2] : [])),
    })),
  );
}

/** Reads all operations of version 1, and the redesigned order operations of version 2. */
export function operations(): readonly Operation[] {
  const [first, second] = [listOperations('v1', ''), listOperations('v2', 'v2 ')];
  return [...first, ...second.filter(({ id }) => id.startsWith('v2 orders.'))];
}
