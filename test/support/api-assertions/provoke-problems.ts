import { contract, contractV2, getRouteMetadata, problemCodesOfResponse, listRoutes, scopeDefinitions } from '@mandate/contract';
import { isAppRouteOtherResponse, type AppRoute } from '@ts-rest/core';
import type { Database } from '../../../server/database/entity-manager/entity-manager-type.ts';
import { operationName } from '../contract/declared-responses.ts';
import type { ApiResponse, ApiServer, JsonBody } from '../server/start-mandate.ts';

/** A valid request. Tests also send invalid variants of this request. */
export type ValidRequest = {
  readonly method: string;
  readonly path: string;
  readonly body?: unknown;
  readonly token: string;
  readonly headers: Record<string, string>;
};

/** Invalid tokens and an invalid cursor. Each of these values makes an otherwise valid request fail. */
export type ProblemInputs = {
  readonly expired: string;
  readonly revoked: string;
  /** Token with scopes that require a staff account, issued to a user who is no longer staff. */
  readonly formerStaffToken: string;
  /** Valid token without the required scope. */
  readonly scopeless: string;
  /** Valid cursor from a different list. */
  readonly foreignCursor: string;
};

type InvalidateRequest = (
  valid: ValidRequest,
  inputs: ProblemInputs,
  route: AppRoute,
) => (Omit<ValidRequest, 'token'> & { readonly token?: string })[];

const withHeader =
  (name: string, value: string): InvalidateRequest =>
  (valid) => [{ ...valid, headers: { ...valid.headers, [name]: value } }];
const withQuery = ({ path, ...valid }: ValidRequest, query: string): ValidRequest => ({
  ...valid,
  path: `${path}${path.includes('?') ? '&' : '?'}${query}`,
});
/** Returns the request with a different value for the first path parameter, or an empty list if the path has no parameters. */
function withParameter({ path, ...valid }: ValidRequest, route: AppRoute, value: string): ValidRequest[] {
  const index = route.path.split('/').findIndex((segment) => segment.startsWith(':'));
  return index === -1 ? [] : [{ ...valid, path: path.split('/').with(index, value).join('/') }];
}

/** Invalid request variants for each problem code. The response to at least one variant must have this code. */
const invalidRequests: Record<string, InvalidateRequest> = {
  missing_token: ({ method, path, body, headers }) => [{ method, path, body, headers }],
  invalid_token: (valid) => [{ ...valid, token: 'not.a.token' }],
  expired_token: (valid, { expired: token }) => [{ ...valid, token }],
  revoked_token: (valid, { revoked: token }) => [{ ...valid, token }],
  insufficient_scope: (valid, { scopeless: token }) => [{ ...valid, token }],
  forbidden: (valid, { formerStaffToken: token }) => [{ ...valid, token }],
  not_acceptable: withHeader('accept', 'image/png'),
  invalid_request: (valid, _, route) => [
    ...withParameter(valid, route, '!'.repeat(40)),
    ...(typeof valid.body === 'object' ? [{ ...valid, body: { ...valid.body, surprise: 1 } }] : []),
    withQuery(valid, 'surprise=1'),
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
  // if the resource does not exist, the first request creates it
  precondition_required: (valid) => [
    { ...valid, headers: {} },
    { ...valid, headers: {} },
  ],
  idempotency_key_invalid: withHeader('idempotency-key', 'two words'),
  invalid_cursor: (valid) => [withQuery(valid, 'cursor=made-up')],
  cursor_mismatch: (valid, { foreignCursor: cursor }) => [withQuery(valid, `cursor=${cursor}`)],
  not_found: (valid, _, route) => withParameter(valid, route, '9007199254740991'),
};

/** Returns whether this module has invalid variants for the problem code. */
export function canProvokeProblem(code: string, route: AppRoute): boolean {
  const { consumes, access } = getRouteMetadata(route);
  // the upload tests cover large files, and each operation's tests cover permissions beyond scopes
  if (code === 'payload_too_large') return consumes === undefined;
  if (code === 'forbidden') return typeof access === 'object' && access.some((scope) => scopeDefinitions[scope].admin);
  return code in invalidRequests;
}

/** Returns the problem codes that the route declares. */
export const declaredProblemCodes = (route: AppRoute): string[] =>
  Object.entries(route.responses).flatMap(([status, response]) =>
    isAppRouteOtherResponse(response) && Number(status) >= 400 ? problemCodesOfResponse(response) : [],
  );

export const findRoute = (operation: string): AppRoute => {
  const route = [...listRoutes(contract), ...listRoutes(contractV2.orders)].find((candidate) => operationName(candidate) === operation);
  if (!route) throw new Error(`the contract has no operation ${operation}`);
  return route;
};

/**
 * Sends invalid variants of a request until a response has the problem code. Returns false if no response has the code. The requests have
 * the header `Accept-Language: de`, so that `validateServerResponses` also detects texts that are not translated.
 */
export async function provokeProblem(
  mandate: ApiServer,
  code: string,
  route: AppRoute,
  valid: ValidRequest,
  inputs: ProblemInputs,
): Promise<boolean> {
  for (const { method, path, headers, ...rest } of invalidRequests[code]?.(valid, inputs, route) ?? []) {
    const response = await mandate.callApi(method, path, { ...rest, headers: { ...headers, 'accept-language': 'de' } });
    if (response.body?.code === code) return true;
  }
  return false;
}

export const sendValidRequest = (
  mandate: ApiServer,
  { method, path, ...rest }: ValidRequest,
  headers: Record<string, string> = {},
): Promise<ApiResponse> => mandate.callApi(method, path, { ...rest, headers: { ...rest.headers, ...headers } });

/** Returns whether the operation accepts an `Idempotency-Key`. */
export const acceptsIdempotencyKey = (route: AppRoute): boolean => getRouteMetadata(route).idempotent === true;

/** Runs `work` while every query on the `users` table, including authentication queries, fails with this SQL state. */
export async function withFailingUserQueries<Result>({ em }: Database, sqlState: string, work: () => Promise<Result>): Promise<Result> {
  const fork = em.fork();
  await fork.execute(createRaisingFunctionSql('boolean', sqlState));
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

/** Runs `work` while every insertion of an idempotency key fails as if a concurrent request had locked the key. */
export async function withLockedIdempotencyKeys<Result>({ em }: Database, work: () => Promise<Result>): Promise<Result> {
  const fork = em.fork();
  await fork.execute(createRaisingFunctionSql('trigger', '55P03'));
  await fork.execute('create trigger held before insert on idempotency_keys for each row execute function broken()');
  try {
    return await work();
  } finally {
    await fork.execute('drop trigger held on idempotency_keys');
    await fork.execute('drop function broken');
  }
}

const createRaisingFunctionSql = (type: string, sqlState: string): string =>
  `create function broken() returns ${type} language plpgsql as $$ begin raise exception 'broken' using errcode = '${sqlState}'; end $$`;

/** Creates an expired and a revoked API key. */
export async function createExpiredAndRevokedKeys(mandate: ApiServer, owner: string): Promise<Pick<ProblemInputs, 'expired' | 'revoked'>> {
  const create = async (name: string): Promise<JsonBody> =>
    (await mandate.callApi('POST', '/api/v1/api-keys', { token: owner, body: { name, scopes: ['orders.read'] } })).body;
  const [expired, revoked] = [await create('Expired'), await create('Revoked')];
  await mandate.db.em
    .fork()
    .execute(`update api_keys set created_at = now() - interval '2 days', expires_at = now() - interval '1 day' where id = ?`, [
      expired.id,
    ]);
  await mandate.callApi('DELETE', `/api/v1/api-keys/${revoked.id}`, { token: owner });
  return { expired: expired.key, revoked: revoked.key };
}
