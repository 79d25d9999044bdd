import { isAppRouteOtherResponse, type AppRoute } from '@ts-rest/core';
import { z, type ZodTypeAny } from 'zod';
import { importFileLimitsText } from '../resources/tasks/import-parameters.ts';
import { isApiKeyScope } from '../resources/access/api-keys.ts';
import { problemSchema, problemCodesOfResponse } from '../protocol/problems.ts';
import { getRouteMetadata, type RouteMetadata, defaultMaxBodyBytes } from '../protocol/route-metadata.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../schema/json.ts';
import { type OpenApiComponents, jsonSchemaFromZodSchema } from './json-schema-from-zod.ts';

const statusPhrases: Record<string, string> = {
  200: 'Success',
  201: 'Created',
  202: 'Accepted; processing continues in the background',
  204: 'Success, without content',
  304: 'Not modified',
  400: 'The request is not valid',
  401: 'The access token is missing or not valid',
  403: 'The access token does not permit this operation',
  404: 'Not found, or owned by another user',
  406: 'No acceptable response format',
  409: 'Conflict with the current state',
  410: 'No longer available',
  412: 'The resource has changed',
  413: 'The body is too large',
  415: 'The body has an unsupported media type',
  422: 'The idempotency key was used for a different request',
  428: 'An If-Match header is required',
  429: 'Too many requests',
  500: 'Something went wrong on our side',
  503: 'Temporarily unavailable',
};

const headers = {
  'X-Request-Id': { description: 'ID of the request. Include the ID when contacting support.', schema: { type: 'string' } },
  'WWW-Authenticate': { description: 'Required authentication scheme and scopes (RFC 6750).', schema: { type: 'string' } },
  Location: { description: 'URL of the created resource.', schema: { type: 'string', format: 'uri-reference' } },
  ETag: { description: 'Identifies this version of the resource (RFC 9110 section 8.8.3).', schema: { type: 'string' } },
  Link: { description: 'URLs of the first and the next page (RFC 8288).', schema: { type: 'string' } },
  'Idempotent-Replayed': {
    description: '`true` if this is the response to an earlier request with the same idempotency key.',
    schema: { type: 'string' },
  },
  'Mandate-Dry-Run': {
    description: '`true` if the request had `dry_run=true`: nothing was stored, and the IDs in the response do not exist.',
    schema: { type: 'string' },
  },
  'RateLimit-Policy': {
    description: "The caller's limits: `q` requests in `w` seconds (draft-ietf-httpapi-ratelimit-headers).",
    schema: { type: 'string' },
  },
  RateLimit: { description: 'Remaining quota of each limit: `r` requests for the next `t` seconds.', schema: { type: 'string' } },
  'Retry-After': { description: 'Seconds to wait before the next request.', schema: { type: 'integer' } },
} satisfies Record<string, JsonObject>;

/** Returns the OpenAPI operation object for a route. */
export function createOpenApiOperation(route: AppRoute, tag: string, components: OpenApiComponents): JsonObject {
  const { operationId, access, idempotent, internal, deprecated } = getRouteMetadata(route);
  return {
    operationId,
    tags: [tag],
    ...(internal && { 'x-internal': true }),
    ...(deprecated && { deprecated: true, ...(deprecated.sunset !== undefined && { 'x-sunset': deprecated.sunset }) }),
    summary: route.summary ?? operationId,
    ...(route.description !== undefined && { description: route.description }),
    ...(parametersOf(route, components) satisfies JsonObject),
    ...('body' in route && isZod(route.body) && { requestBody: requestBody(route, route.body, components) }),
    responses: responsesOf(route, idempotent === true, components),
    security: securityOf(access),
  };
}

function securityOf(access: RouteMetadata['access']): JsonObject[] {
  if (access === 'public') return [];
  if (access === 'token') return [{ oauth2: [] }, { apiKey: [] }];
  return [...access.map((scope) => ({ oauth2: [scope] })), ...(access.some(isApiKeyScope) ? [{ apiKey: [] }] : [])];
}

const isZod = (schema: unknown): schema is ZodTypeAny => schema instanceof z.ZodType;

function parametersOf(route: AppRoute, components: OpenApiComponents): JsonObject {
  const parameters = [
    ...parametersIn('path', route.pathParams, components),
    ...parametersIn('query', route.query, components),
    ...parametersIn('header', route.headers, components),
  ];
  return parameters.length === 0 ? {} : { parameters };
}

function parametersIn(location: 'path' | 'query' | 'header', schema: unknown, components: OpenApiComponents): JsonObject[] {
  if (!isZod(schema)) return [];
  const { properties, required } = jsonSchemaFromZodSchema(schema, 'request', components);
  if (!isJsonObject(properties)) return [];
  return Object.entries(properties).map(([name, property]) => {
    const { description, ...rest } = isJsonObject(property) ? property : {};
    return {
      name: location === 'header' ? headerName(name) : name,
      in: location,
      ...(description !== undefined && { description }),
      ...(location === 'path' || (Array.isArray(required) && required.includes(name)) ? { required: true } : {}),
      ...(rest['type'] === 'array' && { style: 'form', explode: false }),
      schema: rest,
    };
  });
}

const headerName = (name: string): string =>
  name.replaceAll(/(^|-)([a-z])/g, (_, dash: string, letter: string) => dash + letter.toUpperCase());

function requestBody(route: AppRoute, body: ZodTypeAny, components: OpenApiComponents): JsonObject {
  const { consumes, bodyMax = defaultMaxBodyBytes } = getRouteMetadata(route);
  const description = Number.isFinite(bodyMax) ? `At most ${bodyMax} bytes.` : importFileLimitsText;
  if (consumes) return { required: true, description, content: files(consumes) };
  const schema = jsonSchemaFromZodSchema(body, 'request', components);
  const mediaTypes = route.method === 'PATCH' ? ['application/merge-patch+json', 'application/json'] : ['application/json'];
  return { required: true, description, content: Object.fromEntries(mediaTypes.map((type) => [type, { schema }])) };
}

const files = (mediaTypes: readonly string[]): JsonObject =>
  Object.fromEntries(mediaTypes.map((type) => [type, { schema: { type: 'string', format: 'binary' } }]));

function responsesOf(route: AppRoute, idempotent: boolean, components: OpenApiComponents): JsonObject {
  return Object.fromEntries(
    Object.entries(route.responses).map(([status, response]) => {
      const description = statusPhrases[status];
      if (description === undefined) throw new Error(`status ${status} has no description`);
      const common = { headers: headersOf(status, route, idempotent, components) };
      const { produces } = getRouteMetadata(route);
      if (status === '200' && produces) return [status, { description, ...common, content: files(produces) }];
      if (!isAppRouteOtherResponse(response)) {
        const content: JsonValue = isZod(response)
          ? { 'application/json': { schema: jsonSchemaFromZodSchema(response, 'response', components) } }
          : {};
        return [status, { description, ...common, content }];
      }
      // All errors share one schema, so that generated clients have one error type. The error codes of each response are listed in its
      // description and in `x-problem-codes`.
      const codes = problemCodesOfResponse(response);
      const content = { [response.contentType]: { schema: jsonSchemaFromZodSchema(problemSchema, 'response', components) } };
      return [
        status,
        { description: `${description}: ${codes.map((code) => `\`${code}\``).join(', ')}.`, ...common, content, 'x-problem-codes': codes },
      ];
    }),
  );
}

function headersOf(status: string, route: AppRoute, idempotent: boolean, components: OpenApiComponents): JsonObject {
  const isPage = hasQueryParameter(route, 'cursor');
  const names: (keyof typeof headers)[] = ['X-Request-Id', 'RateLimit-Policy', 'RateLimit'];
  if ((status === '200' || status === '201' || status === '304') && hasEtag(route)) names.push('ETag');
  if (status === '401' || status === '403') names.push('WWW-Authenticate');
  const isCreated = status === '201' || status === '202';
  if (isCreated) names.push('Location');
  if (isCreated && hasQueryParameter(route, 'dry_run')) names.push('Mandate-Dry-Run');
  if (isCreated && idempotent) names.push('Idempotent-Replayed');
  if (status === '200' && isPage) names.push('Link');
  if (status === '429' || status === '503' || status === '202') names.push('Retry-After');
  for (const name of names) components.headers[name] = headers[name];
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}

const hasQueryParameter = ({ query }: AppRoute, name: string): boolean => isZod(query) && 'shape' in query && name in Object(query.shape);

/** Returns whether the route's responses have an ETag: the route accepts `If-Match` or `If-None-Match`, or declares `returnsEtag`. */
function hasEtag(route: AppRoute): boolean {
  const { headers: requestHeaders } = route;
  if (getRouteMetadata(route).returnsEtag === true) return true;
  return (
    isZod(requestHeaders) && 'shape' in requestHeaders && ['if-match', 'if-none-match'].some((name) => name in Object(requestHeaders.shape))
  );
}
