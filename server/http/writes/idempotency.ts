import type { Response } from 'express';
import { z } from 'zod';
import { getRouteMetadata } from '@mandate/contract';
import { sha256 } from '../../crypto/sha256.ts';
import type { EntityManager } from '../../database/entity-manager/entity-manager-type.ts';
import { getSqlState, getPostgresqlContextText } from '../../database/errors/sql-error-fields.ts';
import { setEtagOfCreatedResourceIfEnabled } from '../response/etag-of-created-resource.ts';
import { isDryRunRequest, runDryRunInRolledBackTransaction } from './dry-run.ts';
import { formatPrincipalKey } from '../request/principal-and-token-types.ts';
import { createProblem } from '../problem-details/problem.ts';
import { requirePrincipal } from '../request/request-context-principal-and-access-log.ts';
import {
  claimIdempotencyKey,
  findStoredIdempotentRequest,
  storeFinalResponseIfUnfinished,
  type KeyScope,
  storeIdempotentResponse,
  type StoredRequest,
} from './stored-idempotent-requests.ts';
import { type MatchedRequest, getMatchedRoute } from '../request/matched-route.ts';
import { makeNextJsonResponseSendText } from '../response/replace-express-response-json-method.ts';

/**
 * Creates a resource in one transaction, at most once per caller and idempotency key. The response to a replay is identical to the first
 * response, byte for byte, except that a secret is replaced with `null`. Nothing is stored for a rejected request, so that the client can
 * retry it with the same key.
 * @param location returns the created resource's path
 */
export const createResourceIdempotently = async <Body>(
  em: EntityManager,
  req: MatchedRequest,
  res: Response,
  write: (em: EntityManager) => Promise<Body>,
  location: (body: Body) => string,
) => {
  const body = isDryRunRequest(req)
    ? await runDryRunInRolledBackTransaction(em, res, write)
    : await atMostOnce(em, req, res, { status: 201, content: req.body }, write, location);
  return { status: 201 as const, body };
};

/** `Retry-After` value for accepted tasks. */
const taskRetryAfterSeconds = 2;

/**
 * Like `createResourceIdempotently`, but for a task that continues after the response.
 * @param content data that identifies the request, if the body is not JSON
 */
export const startTaskIdempotently = async <Body>(
  em: EntityManager,
  req: MatchedRequest,
  res: Response,
  write: (em: EntityManager) => Promise<Body>,
  location: (body: Body) => string,
  content: unknown = req.body,
) => {
  const body = await atMostOnce(em, req, res, { status: 202, content }, write, location);
  res.set('Retry-After', String(taskRetryAfterSeconds));
  return { status: 202 as const, body };
};

/** Parameters that an SQL statement uses to claim a request's idempotency key; `null` if the request has no key. */
export type IdempotencyKeyClaim = readonly [...KeyScope, requestHash: string] | null;
type CreatedResponse<Body> = { readonly status: 201; readonly body: Body };
/** The response that the SQL statement built and stored; `undefined` if the key was already claimed. */
export type StoredIdempotentResponse = { readonly body: string; readonly location: string } | undefined;

/**
 * Like `createResourceIdempotently`, but for a single SQL statement that claims the key, does the work and stores the response, so that no
 * lock is held during a round trip. The response is sent exactly as stored.
 */
export async function createResourceIdempotentlyInStatement<Body>(
  em: EntityManager,
  req: MatchedRequest,
  res: Response,
  write: (em: EntityManager, claimKey: IdempotencyKeyClaim) => Promise<StoredIdempotentResponse>,
): Promise<CreatedResponse<Body>> {
  if (isDryRunRequest(req)) {
    const stored = await runDryRunInRolledBackTransaction(em, res, (inner) => write(inner, null));
    return { status: 201, body: responseSchema<Body>(req, 201).parse(JSON.parse(stored?.body ?? '')) };
  }
  const keyScope = keyScopeOf(req);
  const claimed: IdempotencyKeyClaim = keyScope ? [...keyScope, hashRequest(req, req.body)] : null;
  const stored = await write(em, claimed).catch(rejectIfKeyIsLocked);
  if (!stored) throw replayOf(await findPriorOfClaim(em, claimed));
  res.location(stored.location);
  makeNextJsonResponseSendText(res, stored.body);
  const body = responseSchema<Body>(req, 201).parse(JSON.parse(stored.body));
  setEtagOfCreatedResourceIfEnabled(res, () => body);
  return { status: 201, body };
}

type ResponseKind = { readonly status: 201 | 202; readonly content: unknown };

async function atMostOnce<Body>(
  em: EntityManager,
  req: MatchedRequest,
  res: Response,
  { status, content }: ResponseKind,
  write: (em: EntityManager) => Promise<Body>,
  location: (body: Body) => string,
): Promise<Body> {
  const keyScope = keyScopeOf(req);
  const body = await em.transactional(async (inner) => {
    if (keyScope === undefined) return write(inner);
    const hash = hashRequest(req, content);
    const isClaimed = await claimIdempotencyKey(inner, keyScope, hash).catch(rejectIfInProgress);
    if (!isClaimed) throw replayOf(await findPriorRequest(inner, keyScope, hash));
    const created = parseResponse(req, status, await write(inner));
    await storeIdempotentResponse(inner, keyScope, {
      status,
      location: location(created),
      body: JSON.stringify(withoutSecret(req, created)),
    });
    return created;
  });
  res.location(location(body));
  setEtagOfCreatedResourceIfEnabled(res, () => body);
  return body;
}

type Steps<Body> = {
  /** Runs in the transaction that claims the idempotency key, and never runs again for a replay. */
  readonly start: (em: EntityManager) => Promise<Body>;
  /** Runs after the `start` transaction, without a time limit. Returns the final state. */
  readonly complete: (started: Body) => Promise<Body>;
  /** Returns the current state. Called for a repeated request if the first request with the same idempotency key has not completed. */
  readonly readState: (started: Body) => Promise<Body>;
  readonly location: (body: Body) => string;
};

/**
 * Like `createResourceIdempotently`, but for work that continues after the transaction and before the response, such as a call to a payment
 * provider. For up to five seconds, the response to a replay of an incomplete request tells the client to retry. After that, a replay reads
 * the current state. The request that completes first stores the response, which all replays then return.
 */
export async function createResourceIdempotentlyThenFinishOutsideTransaction<Body>(
  em: EntityManager,
  req: MatchedRequest,
  res: Response,
  steps: Steps<Body>,
) {
  if (isDryRunRequest(req)) return { status: 201 as const, body: await runDryRunInRolledBackTransaction(em, res, steps.start) };
  const keyScope = keyScopeOf(req);
  const hash = hashRequest(req, req.body);
  const { started, isFirst } = await em.transactional(async (inner) => {
    if (keyScope !== undefined && !(await claimIdempotencyKey(inner, keyScope, hash).catch(rejectIfInProgress))) {
      const prior = await findPriorRequest(inner, keyScope, hash);
      if (prior.status !== null || !prior.isStale) throw replayOf(prior);
      return { started: responseSchema<Body>(req, 201).parse(JSON.parse(prior.body ?? '')), isFirst: false };
    }
    const created = parseResponse(req, 201, await steps.start(inner));
    if (keyScope !== undefined)
      await storeIdempotentResponse(inner, keyScope, { status: null, location: steps.location(created), body: JSON.stringify(created) });
    return { started: created, isFirst: true };
  });
  const body = parseResponse(req, 201, await (isFirst ? steps.complete(started) : steps.readState(started)));
  const finished = keyScope === undefined || (await storeFinalResponseIfUnfinished(em, keyScope, JSON.stringify(body)));
  if (!finished) throw replayOf(await findPriorRequest(em, keyScope, hash));
  res.location(steps.location(body));
  return { status: 201 as const, body };
}

/**
 * Returns the response to store for replays. Secrets are not stored, not even in encrypted form, so that the table never reveals a secret.
 */
function withoutSecret(req: MatchedRequest, body: unknown): unknown {
  const { secret } = getRouteMetadata(getMatchedRoute(req));
  return secret === undefined ? body : { ...z.record(z.unknown()).parse(body), [secret]: null };
}

/** Strips undeclared fields, so that the stored response is exactly the response that is sent. */
const parseResponse = <Body>(req: MatchedRequest, status: 201 | 202, body: Body): Body => responseSchema<Body>(req, status).parse(body);

function responseSchema<Body>(req: MatchedRequest, status: 201 | 202): z.ZodType<Body> {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a zod schema, or the contract is broken; parsing keeps the type
  return getMatchedRoute(req).responses[status] as z.ZodType<Body>;
}

/** Thrown so that the error handler sends the stored response unchanged, even if the contract has changed in the meantime. */
export class ReplayedResponseSignal extends Error {
  readonly #stored: StoredRequest;

  constructor(answer: StoredRequest) {
    super('replayed');
    this.#stored = answer;
  }

  send(res: Response): void {
    const { status, location, body } = this.#stored;
    if (location !== null) res.location(location);
    setEtagOfCreatedResourceIfEnabled(res, () => JSON.parse(body ?? ''));
    if (status === 202) res.set('Retry-After', String(taskRetryAfterSeconds));
    res.status(status ?? 201).set('Idempotent-Replayed', 'true');
    res.type('json').send(body ?? '');
  }
}

async function findPriorOfClaim(em: EntityManager, claimed: IdempotencyKeyClaim): Promise<StoredRequest> {
  if (!claimed) throw new Error('the request has no key and no response');
  const [caller, operation, key, hash] = claimed;
  return findPriorRequest(em, [caller, operation, key], hash);
}

/** Returns the request that first used this key. */
async function findPriorRequest(em: EntityManager, keyScope: KeyScope, hash: string): Promise<StoredRequest> {
  const prior = await findStoredIdempotentRequest(em, keyScope);
  if (!prior) throw inProgress();
  if (prior.requestHash === hash) return prior;
  throw createProblem('idempotency_key_reused', {
    detail: 'This Idempotency-Key was sent with a different request. Use a new key for a new request.',
  });
}

const replayOf = (prior: StoredRequest): Error => (prior.status === null ? inProgress() : new ReplayedResponseSignal(prior));

const inProgress = (cause?: unknown): Error =>
  createProblem('idempotency_in_progress', {
    detail: 'The first request with this key is still being processed.',
    headers: { 'Retry-After': '1' },
    cause,
  });

function rejectIfInProgress(error: unknown): never {
  const lockNotAvailable = '55P03';
  if (getSqlState(error) !== lockNotAvailable) throw error;
  throw inProgress(error);
}

/** Like `rejectIfInProgress`, but only for locks on `idempotency_keys`, because the statement may also wait for other locks. */
function rejectIfKeyIsLocked(error: unknown): never {
  if (getPostgresqlContextText(error)?.includes('idempotency_keys')) return rejectIfInProgress(error);
  throw error;
}

/** Returns the stored response's primary key, or `undefined` for a request without an idempotency key. */
function keyScopeOf(req: MatchedRequest): KeyScope | undefined {
  const key = idempotencyKeyOf(req);
  return key === undefined
    ? undefined
    : [formatPrincipalKey(requirePrincipal(req)), getRouteMetadata(getMatchedRoute(req)).operationId, key];
}

/** Parses `Idempotency-Key: abc` or, as a structured field, `"abc"`. */
function idempotencyKeyOf(req: MatchedRequest): string | undefined {
  const header = req.get('idempotency-key');
  if (header === undefined) return undefined;
  const key = /^("?)([A-Za-z0-9._:-]{1,255})\1$/.exec(header)?.[2];
  if (key !== undefined) return key;
  throw createProblem('idempotency_key_invalid', {
    detail: 'Send 1 to 255 characters from A-Z, a-z, 0-9, `.`, `_`, `:` and `-`.',
    errors: [
      {
        in: 'header',
        parameter: 'Idempotency-Key',
        code: 'invalid_value',
        detail: 'Must be 1 to 255 characters from A-Z, a-z, 0-9, `.`, `_`, `:` and `-`.',
      },
    ],
  });
}

const hashRequest = (req: MatchedRequest, content: unknown): string => sha256(`${req.path}\n${canonicalJson(content)}`, 'base64url');

/** Returns JSON with sorted keys, so that the order of fields does not matter. */
function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  const entries = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return `{${entries.map(([key, item]) => `${JSON.stringify(key)}:${canonicalJson(item)}`).join(',')}}`;
}
