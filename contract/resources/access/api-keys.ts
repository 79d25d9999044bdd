import { initContract } from '@ts-rest/core';
import { z } from 'zod';
import { component } from '../../schema/named-schema.ts';
import { id, pathId } from '../../schema/ids.ts';
import { page, pageQuery } from '../../schema/pagination.ts';
import { commonProblems, failuresOf, guarded, withBody, withCursor, withIdempotencyKey } from '../../protocol/problems.ts';
import { describedBy, idempotencyHeaders } from '../../protocol/route-metadata.ts';
import { administratorScopes, type Scope, scopeNames } from '../../protocol/scopes.ts';
import { shownOnce } from '../../schema/secret-field.ts';
import { instant, instantInput, line } from '../../schema/text.ts';

const c = initContract();

export const apiKeyProblems = {
  too_many_api_keys: { status: 409, title: 'There are too many API keys' },
} as const;

const fails = failuresOf({ ...commonProblems, ...apiKeyProblems });

/** How many keys one person can have at a time. */
export const apiKeysMax = 50;
/** How long a key can be good for. */
export const apiKeyDaysMax = 366;

/** A key makes no other keys: whoever finds one could keep themselves in. What requires a recent sign-in is not for keys either. */
const [firstScope, ...moreScopes] = scopeNames.filter((scope) => scope !== 'api_keys.manage' && !administratorScopes.has(scope));
if (firstScope === undefined) throw new Error('there are no scopes');
const keyScope = z.enum([firstScope, ...moreScopes]);

/** Whether API keys can have this scope. */
export const isApiKeyScope = (scope: Scope): boolean => keyScope.safeParse(scope).success;

const fields = {
  id,
  name: z.string().min(1).max(100).describe('What its owner calls it.'),
  prefix: z.string().describe('How it begins: enough to recognize it by.'),
  scopes: z.array(z.string()).describe('What it may do, for as long as its owner may.'),
  status: z.enum(['active', 'revoked', 'expired']),
  created_by_client_id: z
    .string()
    .nullable()
    .describe('Client ID of the application that created the key; `null` for keys that were created before the server recorded it.'),
  created_at: instant,
  expires_at: instant,
  last_used_at: instant.nullable().describe('To within a minute; `null` before its first use.'),
};

export const apiKey = component('ApiKey', z.object(fields));
export const newApiKey = component(
  'NewApiKey',
  z.object({
    ...fields,
    key: shownOnce(
      'The key itself.',
      'If the first response was lost, revoke this key and create another one with a new `Idempotency-Key`.',
    ),
  }),
);

export const apiKeyCreate = component(
  'ApiKeyCreate',
  z
    .object({
      name: line(100).describe('What to call it.'),
      scopes: z.array(keyScope).min(1).max(scopeNames.length).describe('What it may do: no more than the token that makes it.'),
      expires_at: instantInput.optional().describe(`When it ends: at most ${apiKeyDaysMax} days from now; 90 days when left out.`),
    })
    .strict(),
);

export const apiKeys = c.router({
  list: {
    method: 'GET',
    path: '/api-keys',
    query: z.object({ limit: pageQuery.limit, cursor: pageQuery.cursor }).strict(),
    summary: 'List API keys',
    description: 'The keys of the current user, newest first, without the keys themselves.',
    responses: { 200: page('ApiKeyPage', apiKey), ...fails(...guarded, ...withCursor) },
    metadata: describedBy({ operationId: 'apiKeys.list', access: ['api_keys.manage'] }),
  },
  create: {
    method: 'POST',
    path: '/api-keys',
    headers: idempotencyHeaders,
    body: apiKeyCreate,
    summary: 'Create an API key',
    description:
      'A key acts for the current user at the API, as `Authorization: Bearer mk_...`, until it ends or is revoked. The key itself is shown once. Creating a key requires that the user signed in during the last 15 minutes.',
    responses: {
      201: newApiKey,
      ...fails(...guarded, ...withBody, ...withIdempotencyKey, 'insufficient_user_authentication', 'too_many_api_keys'),
    },
    metadata: describedBy({ operationId: 'apiKeys.create', access: ['api_keys.manage'], idempotent: true, secret: 'key' }),
  },
  revoke: {
    method: 'DELETE',
    path: '/api-keys/:api_key_id',
    pathParams: z.object({ api_key_id: pathId('Identifier of the key.') }),
    summary: 'Revoke an API key',
    description: 'It is refused from the next request on. Revoking it again changes nothing.',
    responses: { 204: c.noBody(), ...fails(...guarded, 'not_found') },
    metadata: describedBy({ operationId: 'apiKeys.revoke', access: ['api_keys.manage'] }),
  },
});
export type ApiKey = z.output<typeof apiKey>;
export type NewApiKey = z.output<typeof newApiKey>;
export type ApiKeyCreate = z.output<typeof apiKeyCreate>;
