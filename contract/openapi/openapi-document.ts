import type { AppRouter } from '@ts-rest/core';
import { contract, contractV2 } from '../index.ts';
import { addOpenApiExamples } from './examples/add-openapi-examples.ts';
import { createOpenApiOperation } from './openapi-operation.ts';
import { addCodeSamples } from './samples/add-code-samples.ts';
import { type JsonObject } from '../schema/json.ts';
import { moveErrorResponsesToComponents } from './move-error-responses-to-components.ts';
import { createEmptyOpenApiComponents, sortObjectKeys } from './json-schema-from-zod.ts';
import { replaceEventSchemaWithKnownAndOtherEvents } from './split-event-schema-by-subject.ts';
import { convertToOpenApi30 } from './convert-to-openapi-3-0.ts';
import { webhookDeliveriesTag, webhookHeaderOpenApiParameters, createOpenApiWebhooksSection } from './openapi-webhooks-section.ts';
import type { ResourceTag } from '../protocol/define-resource.ts';
import { getRouteMetadata, listRoutes } from '../protocol/route-metadata.ts';
import { scopeDefinitions } from '../protocol/scopes.ts';

type VersionName = 'v1' | 'v2';
// The types are explicit, because the inferred types are too long for the compiler to write to a declaration file.
type Version = {
  readonly contract: typeof contract | typeof contractV2;
  readonly contractVersion: string;
  readonly hasWebhooks: boolean;
};

/** The API versions with their contract versions. Every change that clients can see increments a contract version. */
const versions: Readonly<Record<VersionName, Version>> = {
  // Event payloads use the version 1 format.
  v1: { contract, contractVersion: '1.0.0', hasWebhooks: true },
  v2: { contract: contractV2, contractVersion: '2.0.0-preview', hasWebhooks: false },
};

/**
 * Returns the OpenAPI 3.1 document for an API version.
 * @param origin scheme and host that serve the API, without a trailing slash: `https://shop.example`
 */
export function createOpenApiDocument(origin: string, version: VersionName = 'v1'): JsonObject {
  const { contract: routesByResource, contractVersion, hasWebhooks } = versions[version];
  const { components, paths, tags } = createOpenApiPaths(routesByResource);
  replaceEventSchemaWithKnownAndOtherEvents(components, version === 'v1' ? components : createOpenApiPaths(contract).components);
  const webhooks = hasWebhooks && createOpenApiWebhooksSection(components);
  const document: JsonObject = {
    openapi: '3.1.0',
    info: {
      title: 'Mandate',
      version: contractVersion,
      summary: 'An order service that other applications can use on behalf of customers.',
      description: description(),
      contact: { name: 'Support for this installation', url: origin },
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: origin, description: 'This installation' }],
    tags: webhooks ? [...tags, webhookDeliveriesTag] : tags,
    paths,
    ...(webhooks && { webhooks }),
    components: {
      schemas: sortObjectKeys(components.schemas),
      headers: sortObjectKeys(components.headers),
      ...(webhooks && { parameters: webhookHeaderOpenApiParameters }),
      securitySchemes: { oauth2: oauthScheme(origin), apiKey: apiKeyScheme },
    },
  };
  return addCodeSamples(moveErrorResponsesToComponents(addOpenApiExamples(document, origin)), origin, version === 'v1');
}

/** Returns the operations of all routes by path, with the tags of their resources and the components that they refer to. */
function createOpenApiPaths(routesByResource: Readonly<Record<string, AppRouter>>) {
  const components = createEmptyOpenApiComponents();
  const paths: Record<string, JsonObject> = {};
  const tags: JsonObject[] = [];
  for (const [resource, routes] of Object.entries(routesByResource)) {
    const tag = getResourceTag(resource, routes);
    tags.push(tag);
    for (const route of listRoutes(routes)) {
      const path = route.path.replaceAll(/:(\w+)/g, '{$1}');
      paths[path] = { ...paths[path], [route.method.toLowerCase()]: createOpenApiOperation(route, tag.name, components) };
    }
  }
  return { components, paths, tags };
}

/** Returns the document in OpenAPI 3.0, for generators that do not support 3.1. */
export const createOpenApi30Document = (origin: string): JsonObject => convertToOpenApi30(createOpenApiDocument(origin));

function getResourceTag(resource: string, routes: AppRouter): ResourceTag {
  const tag = listRoutes(routes).map((route) => getRouteMetadata(route).tag)[0];
  if (!tag)
    throw new Error(
      `${resource} has no tag: in its file in contract/resources, declare the routes with defineResource('Name', 'Description.', { ... })`,
    );
  return tag;
}

const apiKeyScheme: JsonObject = {
  type: 'http',
  scheme: 'bearer',
  description:
    'An API key, sent as `Authorization: Bearer <key>`. The key acts on behalf of the user who created it, and needs the same scopes as an access token. Operations that manage API keys or require a recent sign-in do not accept API keys.',
};

function oauthScheme(origin: string): JsonObject {
  const descriptions = Object.fromEntries(Object.entries(scopeDefinitions).map(([scope, { consent }]) => [scope, consent]));
  const tokenUrl = `${origin}/oauth/token`;
  return {
    type: 'oauth2',
    description: 'Access tokens are issued by the built-in authorization server. The authorization server requires PKCE with S256.',
    flows: {
      authorizationCode: { authorizationUrl: `${origin}/oauth/authorize`, tokenUrl, refreshUrl: tokenUrl, scopes: descriptions },
      clientCredentials: { tokenUrl, scopes: descriptions },
    },
  };
}

const description = (): string =>
  [
    'Amounts are integers in the minor unit of the `currency` in the same object. Timestamps are in RFC 3339 format and in UTC. IDs are integers from 1 to 2^53-1.',
    'All error responses have the format `application/problem+json` and contain a machine-readable `code`. An error response lists all errors that were found in the request.',
    "A request for a resource that does not exist and a request for another user's resource return the same 404 response. Ignore unknown fields in responses, because new fields may be added. New values may be added to enumerations that are marked with `x-open-enum`.",
    'Requests with unknown fields or parameters are rejected.',
    'Every POST accepts an `Idempotency-Key`. For 24 hours, repeating a request with the same key returns the first response again, with `Idempotent-Replayed: true`, and has no further effect. Secrets (marked with `x-null-in-replay`) are included only in the first response and are `null` in a replay. A different request with the same key is rejected with `idempotency_key_reused`.',
  ].join('\n\n');
