import { contract, contractV2, getRouteMetadata, problemCodesOfResponse, listRoutes, scopeDefinitions } from '@mandate/contract';
import { isAppRouteOtherResponse, type AppRoute } from '@ts-rest/core';
import type { Database } from '../../../server/database/entity-manager/entity-manager.ts';
import { operationOf } from './declared-responses.ts';
import type { Answer, Body, Mandate } from '../server/start-mandate.ts';

/** A request that would succeed. */
export type Valid = {
  readonly method: string;
  readonly path: string;
  readonly body?: unknown;
  readonly token: string;
  readonly headers: Record<string, string>;
};

/** What requests are spoiled with. */
export type Spoilers = {
  readonly expired: string;
  readonly revoked: string;
  /** For what only members of staff may do, of one who is none any more. */
  readonly staffScopes: string;
  /** Good, and for something else. */
  readonly scopeless: string;
  /** Of another list. */
  readonly cursor: string;
};

type Spoil = (valid: Valid, spoilers: Spoilers, route: AppRoute) => (Omit<Valid, 'token'> & { readonly token?: string })[];

const withHeader =
  (name: string, value: string): Spoil =>
  (valid) => [{ ...valid, headers: { ...valid.headers, [name]: value } }];
const withQuery = ({ path, ...valid }: Valid, query: string): Valid => ({
  ...valid,
  path: `${path}${path.includes('?') ? '&' : '?'}${query}`,
});
/** Another value for the first parameter of the path, if there is one. */
function withParameter({ path, ...valid }: Valid, route: AppRoute, value: string): Valid[] {
  const index = route.path.split('/').findIndex((segment) => segment.startsWith(':'));
  return index === -1 ? [] : [{ ...valid, path: path.split('/').with(index, value).join('/') }];
}

/** How to be refused with each code that is everywhere the same: each way is tried until one is. */
const spoils: Record<string, Spoil> = {
  missing_token: ({ method, path, body, headers }) => [{ method, path, body, headers }],
  invalid_token: (valid) => [{ ...valid, token: 'nobody.made.this' }],
  expired_token: (valid, { expired: token }) => [{ ...valid, token }],
  revoked_token: (valid, { revoked: token }) => [{ ...valid, token }],
  insufficient_scope: (valid, { scopeless: token }) => [{ ...valid, token }],
  forbidden: (valid, { staffScopes: token }) => [{ ...valid, token }],
  not_acceptable: withHeader('accept', 'image/png'),
  invalid_request: (valid, _, route) => [
    ...withParameter(valid, route, '!'.repeat(40)),
    ...(typeof valid.body === 'object' ? [{ ...valid, body: { ...valid.body, surprise: 1 } }] : []),
    ...(route.query === undefined ? [] : [withQuery(valid, 'surprise=1')]),
  ],
  malformed_json: (valid) => [{ ...valid, body: '{' }],
  payload_too_large: (valid) => [{ ...valid, body: JSON.stringify({ note: 'x'.repeat(1_000_001) }) }],
  unsupported_media_type: (valid) => [
    { ...valid, body: valid.body ?? 'text', headers: { ...valid.headers, 'content-type': 'text/plain' } },
  ],
  precondition_failed: (valid) => [
    { ...valid, headers: { ...valid.headers, 'if-match': '"another"' } },
    { ...valid, headers: { 'if-none-match': '*' } },
  ],
  // what is not there yet is made by the first
  precondition_required: (valid) => [
    { ...valid, headers: {} },
    { ...valid, headers: {} },
  ],
  idempotency_key_invalid: withHeader('idempotency-key', 'two words'),
  invalid_cursor: (valid) => [withQuery(valid, 'cursor=made-up')],
  cursor_mismatch: (valid, { cursor }) => [withQuery(valid, `cursor=${cursor}`)],
  not_found: (valid, _, route) => withParameter(valid, route, '9007199254740991'),
};

/** Whether `provoke` knows a way. */
export function isProvoked(code: string, route: AppRoute): boolean {
  const { consumes, access } = getRouteMetadata(route);
  // a file that is too large is for the tests of files, what people may do besides their scopes for those of the operation
  if (code === 'payload_too_large') return consumes === undefined;
  if (code === 'forbidden') return typeof access === 'object' && access.some((scope) => scopeDefinitions[scope].admin);
  return code in spoils;
}

/** The codes an operation declares. */
export const codesOf = (route: AppRoute): string[] =>
  Object.entries(route.responses).flatMap(([status, response]) =>
    isAppRouteOtherResponse(response) && Number(status) >= 400 ? problemCodesOfResponse(response) : [],
  );

export const routeNamed = (operation: string): AppRoute => {
  const route = [...listRoutes(contract), ...listRoutes(contractV2.orders)].find((candidate) => operationOf(candidate) === operation);
  if (!route) throw new Error(`there is no ${operation}`);
  return route;
};

/** Spoils a valid request for one code, in each way there is for it until one works. */
export async function provoke(mandate: Mandate, code: string, route: AppRoute, valid: Valid, spoilers: Spoilers): Promise<boolean> {
  for (const { method, path, ...rest } of spoils[code]?.(valid, spoilers, route) ?? []) {
    if ((await mandate.call(method, path, rest)).body?.code === code) return true;
  }
  return false;
}

export const sendValid = (mandate: Mandate, { method, path, ...rest }: Valid, headers: Record<string, string> = {}): Promise<Answer> =>
  mandate.call(method, path, { ...rest, headers: { ...rest.headers, ...headers } });

/** Whether the operation takes an `Idempotency-Key`. */
export const isIdempotent = (route: AppRoute): boolean => getRouteMetadata(route).idempotent === true;

/** While `work` lasts, the database answers the question who is calling with this SQL state. */
export async function whileBroken<Result>({ em }: Database, sqlState: string, work: () => Promise<Result>): Promise<Result> {
  const fork = em.fork();
  await fork.execute(raising('boolean', sqlState));
  await fork.execute('alter table users rename to users_kept');
  await fork.execute('create view users as select * from users_kept where broken()');
  try {
    return await work();
  } finally {
    await fork.execute('drop view users');
    await fork.execute('alter table users_kept rename to users');
    await fork.execute('drop function broken');
  }
}

/** While `work` lasts, every idempotency key is held by a request that is being carried out. */
export async function whileKeysAreHeld<Result>({ em }: Database, work: () => Promise<Result>): Promise<Result> {
  const fork = em.fork();
  await fork.execute(raising('trigger', '55P03'));
  await fork.execute('create trigger held before insert on idempotency_keys for each row execute function broken()');
  try {
    return await work();
  } finally {
    await fork.execute('drop trigger held on idempotency_keys');
    await fork.execute('drop function broken');
  }
}

const raising = (type: string, sqlState: string): string =>
  `create function broken() returns ${type} language plpgsql as $$ begin raise exception 'broken' using errcode = '${sqlState}'; end $$`;

/** A key and a token that were good once. */
export async function formerKeys(mandate: Mandate, owner: string): Promise<Pick<Spoilers, 'expired' | 'revoked'>> {
  const create = async (name: string): Promise<Body> =>
    (await mandate.call('POST', '/api/v1/api-keys', { token: owner, body: { name, scopes: ['orders.read'] } })).body;
  const [expired, revoked] = [await create('Expired'), await create('Revoked')];
  await mandate.db.em
    .fork()
    .execute(`update api_keys set created_at = now() - interval '2 days', expires_at = now() - interval '1 day' where id = ?`, [
      expired.id,
    ]);
  await mandate.call('DELETE', `/api/v1/api-keys/${revoked.id}`, { token: owner });
  return { expired: expired.key, revoked: revoked.key };
}
