import documentV1 from '@mandate/contract/openapi.json' with { type: 'json' };
import { createOpenApiDocument } from '@mandate/contract/openapi';
import { exampleRequestBodies } from '../../../contract/openapi/examples/example-requests.ts';
import type { Answer, Body, Mandate } from '../server/start-mandate.ts';

/** A query parameter or a member of a JSON body, as an OpenAPI document declares it. */
export type Candidate = { readonly name: string; readonly schema: Body };
export type RequestField = {
  readonly method: string;
  /** With 1 for every parameter of the path. */
  readonly path: string;
  readonly query?: string;
  readonly pointer?: string;
  /** A valid body for everything else. */
  readonly body: Body;
};

const schemaAt = (document: Body, schema: Body): Body =>
  typeof schema?.$ref === 'string' ? document.components.schemas[schema.$ref.split('/').at(-1)] : schema;

/** JSON pointers of the wanted members of a request body. */
function pointersIn(document: Body, given: Body, isWanted: (candidate: Candidate) => boolean, pointer = ''): string[] {
  const schema = schemaAt(document, given);
  if (isWanted({ name: pointer.split('/').at(-1) ?? '', schema: schema ?? {} })) return [pointer];
  const members = Object.entries<Body>(schema?.properties ?? {}).flatMap(([name, member]) =>
    pointersIn(document, member, isWanted, `${pointer}/${name}`),
  );
  const items = schema?.items ? pointersIn(document, schema.items, isWanted, `${pointer}/0`) : [];
  const parts = [...(schema?.allOf ?? []), ...(schema?.anyOf ?? []), ...(schema?.oneOf ?? [])];
  return [...members, ...items, ...parts.flatMap((part: Body) => pointersIn(document, part, isWanted, pointer))];
}

function fieldsIn(document: Body, isWanted: (candidate: Candidate) => boolean): RequestField[] {
  const operations = Object.entries<Body>(document.paths).flatMap(([path, item]) =>
    Object.entries<Body>(item).map(([method, operation]) => ({
      method: method.toUpperCase(),
      path: path.replaceAll(/\{\w+\}/g, '1'),
      operation,
    })),
  );
  return operations.flatMap(({ method, path, operation }) => {
    const json = operation.requestBody?.content?.['application/json']?.schema;
    const body = json && exampleRequestBodies[String(json.$ref).split('/').at(-1) ?? ''];
    const queries = (operation.parameters ?? []).filter(
      (each: Body) => each.in === 'query' && isWanted({ name: each.name, schema: schemaAt(document, each.schema) }),
    );
    return [
      ...queries.map(({ name }: Body) => ({ method, path, query: name, body })),
      ...(json ? pointersIn(document, json, isWanted) : []).map((pointer) => ({ method, path, pointer, body })),
    ];
  });
}

/** The wanted fields of every operation of every version. */
export const requestFields = (isWanted: (candidate: Candidate) => boolean): RequestField[] => [
  ...fieldsIn(documentV1, isWanted),
  ...fieldsIn(createOpenApiDocument('https://mandate.example', 'v2'), isWanted),
];

function withMember(body: Body, pointer: string, value: string): Body {
  const copy = structuredClone(body);
  const names = pointer.split('/').slice(1);
  const last = names.pop() ?? '';
  names.reduce((at, name) => (at[name] ??= {}), copy)[last] = value;
  return copy;
}

/** A request that is valid but for the value of one field. */
export function sendField(mandate: Mandate, token: string, field: RequestField, value: string): Promise<Answer> {
  const { method, path, query, pointer = '', body } = field;
  if (query === undefined) return mandate.call(method, path, { token, body: withMember(body, pointer, value) });
  const search = new URLSearchParams({ [query]: value }).toString();
  return mandate.call(method, `${path}?${search}`, { token, ...(body && { body }) });
}
