import type { AppRouter } from '@ts-rest/core';
import { contract, contractV2 } from '../index.ts';
import { withExamples } from './examples/examples.ts';
import { operation } from './operation.ts';
import { withSamples } from './samples/code-samples.ts';
import { type Json } from '../schema/json.ts';
import { newComponents, sortedByName } from './schema.ts';
import { asOpenApi30 } from './version-3-0.ts';
import { webhookParameters, webhooksOf } from './webhooks.ts';
import { routesOf } from '../protocol/route-metadata.ts';
import { scopes } from '../protocol/scopes.ts';

/** Each version of the API, with the version of its contract: that grows with every change that callers can see. */
const documented = {
  // events are written in the form of version 1
  v1: { contract, contractVersion: '1.0.0', hasWebhooks: true },
  v2: { contract: contractV2, contractVersion: '2.0.0-preview', hasWebhooks: false },
};

const tags: Record<string, { name: string; description: string }> = {
  versions: { name: 'Versions', description: 'Which versions of the API there are.' },
  users: { name: 'Users', description: 'People who buy, and those who work for the shop.' },
  products: { name: 'Products', description: 'What the shop sells, and how much of it there is.' },
  productCategories: { name: 'Product categories', description: 'The categories of the products, with their sizes.' },
  deliveryMethods: { name: 'Delivery methods', description: 'How an order can reach its customer.' },
  orders: { name: 'Orders', description: 'What customers bought.' },
  payments: { name: 'Payments', description: 'What customers pay.' },
  refunds: { name: 'Refunds', description: 'What is paid back.' },
  shipments: { name: 'Shipments', description: 'Where the parcels are.' },
  providerEvents: { name: 'Provider events', description: 'What payment providers report.' },
  orderImports: { name: 'Order imports', description: "A shop's history from elsewhere." },
  productImports: { name: 'Product imports', description: 'Products from a file.' },
  orderExports: { name: 'Order exports', description: 'Orders as a file.' },
  tasks: { name: 'Tasks', description: 'Work that goes on after the answer: exports and imports.' },
  events: { name: 'Events', description: 'What happened, in order.' },
  webhooks: { name: 'Webhooks', description: 'Events, sent to an address of yours.' },
  connectedApps: { name: 'Connected applications', description: 'Which applications can act for a user.' },
  apiKeys: { name: 'API keys', description: 'Keys for programs of a user’s own.' },
  applications: { name: 'Applications', description: 'Which applications there are, and the most each may ever do.' },
  usage: { name: 'Usage', description: 'What is left of the limits.' },
  auditEvents: { name: 'Audit events', description: 'What happened to credentials and permissions.' },
  signingKeys: { name: 'Signing keys', description: 'What tokens are signed with.' },
};

/**
 * The OpenAPI 3.1 document of the API.
 * @param origin scheme and host the API is served at, without a slash at the end: `https://shop.example`
 */
export function openApiDocument(origin: string, version: keyof typeof documented = 'v1'): Json {
  const { contract: routesByResource, contractVersion, hasWebhooks } = documented[version];
  const components = newComponents();
  const paths: Record<string, Json> = {};
  for (const [resource, routes] of Object.entries<AppRouter>(routesByResource)) {
    for (const route of routesOf(routes)) {
      const path = route.path.replaceAll(/:(\w+)/g, '{$1}');
      paths[path] = { ...paths[path], [route.method.toLowerCase()]: operation(route, tagNameOf(resource), components) };
    }
  }
  const webhooks = hasWebhooks && webhooksOf(tagNameOf('webhooks'), components);
  const document: Json = {
    openapi: '3.1.0',
    info: {
      title: 'Mandate',
      version: contractVersion,
      summary: 'An order service that other applications may act on for a customer.',
      description: description(),
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: origin, description: 'This installation' }],
    tags: Object.values(tags),
    paths,
    ...(webhooks && { webhooks }),
    components: {
      schemas: sortedByName(components.schemas),
      headers: sortedByName(components.headers),
      ...(webhooks && { parameters: webhookParameters }),
      securitySchemes: { oauth2: oauthScheme(origin), apiKey: apiKeyScheme },
    },
  };
  return withSamples(withExamples(document, origin), origin, version === 'v1');
}

/** The same in OpenAPI 3.0, for generators that stop there. */
export const openApi30Document = (origin: string): Json => asOpenApi30(openApiDocument(origin));

function tagNameOf(resource: string): string {
  const tag = tags[resource];
  if (!tag) throw new Error(`${resource} has no tag`);
  return tag.name;
}

const apiKeyScheme: Json = {
  type: 'http',
  scheme: 'bearer',
  description:
    'An API key, sent as `Authorization: Bearer <key>`. It acts for the user who created it and needs the same scope as an access token. Operations that manage API keys, or that require a recent sign-in, do not accept API keys.',
};

function oauthScheme(origin: string): Json {
  const descriptions = Object.fromEntries(Object.entries(scopes).map(([scope, { consent }]) => [scope, consent]));
  const tokenUrl = `${origin}/oauth/token`;
  return {
    type: 'oauth2',
    description: 'Access tokens come from the authorization server of the same installation; it requires PKCE with S256.',
    flows: {
      authorizationCode: { authorizationUrl: `${origin}/oauth/authorize`, tokenUrl, refreshUrl: tokenUrl, scopes: descriptions },
      clientCredentials: { tokenUrl, scopes: descriptions },
    },
  };
}

const description = (): string =>
  [
    'Amounts are integers in the minor unit of the `currency` beside them. Times are RFC 3339 in UTC. Identifiers are integers from 1 to 2^53-1.',
    'Every failure has one form, `application/problem+json`, with a `code` for programs; everything that is wrong with a request is reported at once.',
    'What does not exist and what belongs to somebody else answer the same 404. Ignore fields you do not know: new ones may be added. Enumerations marked `x-open-enum` may get further values.',
    'Requests with fields or parameters the service does not know are refused.',
    'Every POST accepts an `Idempotency-Key`: for 24 hours the same key with the same request returns the first response, with `Idempotent-Replayed: true`, and has no further effect. Secrets (`x-null-in-replay`) are in the first response only and `null` in a replay. The same key with another request is refused with `idempotency_key_reused`.',
  ].join('\n\n');
