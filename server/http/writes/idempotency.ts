import { createHash } from 'node:crypto';
import type { Response } from 'express';
import { z } from 'zod';
import { metadataOf } from '@mandate/contract';
import type { Em } from '../../database/entity-manager/entity-manager.ts';
import { sqlState, whereOf } from '../../database/errors/sql-errors.ts';
import { statement } from '../../database/queries/prepared-statement.ts';
import { setCreatedEtag } from '../response/created-etag.ts';
import { isDryRun, rollBackAfter } from './dry-run.ts';
import { actorOf } from '../request/principal.ts';
import { problem } from '../problem-details/problem.ts';
import { principalOf } from '../request/request-context.ts';
import { type RoutedRequest, routeOf } from '../request/matched-route.ts';
import { sendAsWritten } from '../response/fast-json.ts';

/** Without a status: it was begun, and nobody has been answered yet. */
type Recorded = { request_hash: string; status: number | null; location: string | null; body: string | null; silent: boolean };

const keptFor = '24 hours';
/** Nobody waits any longer for whoever began something: it may be gone, and when it is not, it gives the answer of who was quicker. */
const silentAfter = '5 seconds';

// Waits for a twin that is being carried out; a key older than 24 hours starts anew.
const claim = statement<{ key: string }>(
  'claim_idempotency_key',
  `insert into idempotency_keys (caller, operation, key, request_hash) values ($1, $2, $3, $4)
   on conflict (caller, operation, key) do update set request_hash = excluded.request_hash, created_at = now()
    where idempotency_keys.created_at < now() - interval '${keptFor}'
   returning key`,
);
const recorded = statement<Recorded>(
  'read_idempotency_key',
  `select request_hash, status, location, body, created_at < now() - interval '${silentAfter}' as silent
   from idempotency_keys where caller = $1 and operation = $2 and key = $3`,
);
const record = statement(
  'record_idempotent_answer',
  'update idempotency_keys set status = $4, location = $5, body = $6 where caller = $1 and operation = $2 and key = $3',
);

/**
 * Carries out what a request starts, at most once for each key of its caller, in one transaction. A repeated request gets the
 * first response, byte for byte except for a secret, which is `null`; a refused one leaves no trace, so that it may be sent again once the cause is gone.
 * @param location path of what was created
 */
export const once = async <Body>(
  em: Em,
  req: RoutedRequest,
  res: Response,
  effect: (em: Em) => Promise<Body>,
  location: (body: Body) => string,
) => {
  const body = isDryRun(req)
    ? await rollBackAfter(em, res, effect)
    : await atMostOnce(em, req, res, { status: 201, content: req.body }, effect, location);
  return { status: 201 as const, body };
};

/** Where to look, and when, for the end of what a request has only begun. */
const lookAgainSeconds = 2;

/**
 * The same for what is only begun and goes on after the answer.
 * @param content what tells this request from others with the same key, where the body was no JSON
 */
export const onceAccepted = async <Body>(
  em: Em,
  req: RoutedRequest,
  res: Response,
  effect: (em: Em) => Promise<Body>,
  location: (body: Body) => string,
  content: unknown = req.body,
) => {
  const body = await atMostOnce(em, req, res, { status: 202, content }, effect, location);
  res.set('Retry-After', String(lookAgainSeconds));
  return { status: 202 as const, body };
};

/** What a statement needs to claim the key of a request; `null` where it has none. */
export type Claim = readonly [...Names, requestHash: string] | null;
type Created<Body> = { readonly status: 201; readonly body: Body };
/** An answer as a statement made and kept it; nothing where the key had been claimed before. */
export type Kept = { readonly body: string; readonly location: string } | undefined;

/**
 * The same for what one statement does, the claim of the key and the record of the answer with it: no lock is held while a message
 * is on its way. The answer leaves as it was kept.
 */
export async function onceInStatement<Body>(
  em: Em,
  req: RoutedRequest,
  res: Response,
  effect: (em: Em, claim: Claim) => Promise<Kept>,
): Promise<Created<Body>> {
  if (isDryRun(req)) {
    const kept = await rollBackAfter(em, res, (inner) => effect(inner, null));
    return { status: 201, body: answerSchema<Body>(req, 201).parse(JSON.parse(kept?.body ?? '')) };
  }
  const names = namesOf(req);
  const claimed: Claim = names ? [...names, fingerprint(req, req.body)] : null;
  const kept = await effect(em, claimed).catch(refuseHeldKey);
  if (!kept) throw replayOf(await earlierOf(em, claimed));
  res.location(kept.location);
  sendAsWritten(res, kept.body);
  const body = answerSchema<Body>(req, 201).parse(JSON.parse(kept.body));
  setCreatedEtag(res, () => body);
  return { status: 201, body };
}

type Answering = { readonly status: 201 | 202; readonly content: unknown };

async function atMostOnce<Body>(
  em: Em,
  req: RoutedRequest,
  res: Response,
  { status, content }: Answering,
  effect: (em: Em) => Promise<Body>,
  location: (body: Body) => string,
): Promise<Body> {
  const names = namesOf(req);
  const body = await em.transactional(async (inner) => {
    if (names === undefined) return effect(inner);
    const hash = fingerprint(req, content);
    const [mine] = await claim(inner, [...names, hash]).catch(refuseWhileTwinRuns);
    if (!mine) throw replayOf(await earlier(inner, names, hash));
    const created = answered(req, status, await effect(inner));
    await record(inner, [...names, status, location(created), JSON.stringify(withoutSecret(req, created))]);
    return created;
  });
  res.location(location(body));
  setCreatedEtag(res, () => body);
  return body;
}

type Steps<Body> = {
  /** In the transaction of the key: what a repeated request must not do again. */
  readonly begin: (em: Em) => Promise<Body>;
  /** After it, for as long as it takes: gives what has become of it. */
  readonly goOn: (begun: Body) => Promise<Body>;
  /** What has become of it, for a repeated request when the first has not answered. */
  readonly look: (begun: Body) => Promise<Body>;
  readonly location: (body: Body) => string;
};

const finish = statement<{ key: string }>(
  'finish_idempotent_request',
  `update idempotency_keys set status = 201, body = $4 where caller = $1 and operation = $2 and key = $3 and status is null returning key`,
);

/**
 * The same for what goes on outside of its transaction before it is answered, as when a provider of payments is asked. A repeated
 * request is told meanwhile to try again; once the first has been silent for five seconds, it looks what has become of it. Whoever
 * is first to answer has the answer that all get.
 */
export async function onceInSteps<Body>(em: Em, req: RoutedRequest, res: Response, { begin, goOn, look, location }: Steps<Body>) {
  if (isDryRun(req)) return { status: 201 as const, body: await rollBackAfter(em, res, begin) };
  const names = namesOf(req);
  const hash = fingerprint(req, req.body);
  const { begun, isFirst } = await em.transactional(async (inner) => {
    const [mine] = names === undefined ? [] : await claim(inner, [...names, hash]).catch(refuseWhileTwinRuns);
    if (names !== undefined && !mine) {
      const found = await earlier(inner, names, hash);
      if (found.status !== null || !found.silent) throw replayOf(found);
      return { begun: answerSchema<Body>(req, 201).parse(JSON.parse(found.body ?? '')), isFirst: false };
    }
    const made = answered(req, 201, await begin(inner));
    if (names !== undefined) await record(inner, [...names, null, location(made), JSON.stringify(made)]);
    return { begun: made, isFirst: true };
  });
  const body = answered(req, 201, await (isFirst ? goOn(begun) : look(begun)));
  const finished = names === undefined || (await finish(em, [...names, JSON.stringify(body)])).length > 0;
  if (!finished) throw replayOf(await earlier(em, names, hash));
  res.location(location(body));
  return { status: 201 as const, body };
}

/** The response as it is stored for replays. A secret is not stored, not even encrypted: it opens something for whoever reads the table. */
function withoutSecret(req: RoutedRequest, body: unknown): unknown {
  const { secret } = metadataOf(routeOf(req));
  return secret === undefined ? body : { ...z.record(z.unknown()).parse(body), [secret]: null };
}

/** What the contract lets through of the answer: exactly what will be sent. */
const answered = <Body>(req: RoutedRequest, status: 201 | 202, body: Body): Body => answerSchema<Body>(req, status).parse(body);

function answerSchema<Body>(req: RoutedRequest, status: 201 | 202): z.ZodType<Body> {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a zod schema, or the contract is broken; parsing keeps the type
  return routeOf(req).responses[status] as z.ZodType<Body>;
}

/** Thrown to the error handler to be sent as it was sent the first time; what has changed in the contract since does not matter. */
export class Replay extends Error {
  readonly #answer: Recorded;

  constructor(answer: Recorded) {
    super('replayed');
    this.#answer = answer;
  }

  send(res: Response): void {
    const { status, location, body } = this.#answer;
    if (location !== null) res.location(location);
    setCreatedEtag(res, () => JSON.parse(body ?? ''));
    if (status === 202) res.set('Retry-After', String(lookAgainSeconds));
    res.status(status ?? 201).set('Idempotent-Replayed', 'true');
    res.type('json').send(body ?? '');
  }
}

async function earlierOf(em: Em, claimed: Claim): Promise<Recorded> {
  if (!claimed) throw new Error('a request without a key gave no answer');
  const [caller, operation, key, hash] = claimed;
  return earlier(em, [caller, operation, key], hash);
}

/** What is known of the request that came first with this key. */
async function earlier(em: Em, names: Names, hash: string): Promise<Recorded> {
  const [found] = await recorded(em, names);
  if (!found) throw inProgress();
  if (found.request_hash === hash) return found;
  throw problem('idempotency_key_reused', {
    detail: 'This Idempotency-Key was sent with another request. Use a new key for a new request.',
  });
}

const replayOf = (found: Recorded): Error => (found.status === null ? inProgress() : new Replay(found));

const inProgress = (cause?: unknown): Error =>
  problem('idempotency_in_progress', {
    detail: 'The first request with this key is still being carried out.',
    headers: { 'Retry-After': '1' },
    cause,
  });

function refuseWhileTwinRuns(error: unknown): never {
  const lockNotAvailable = '55P03';
  if (sqlState(error) !== lockNotAvailable) throw error;
  throw inProgress(error);
}

/** The same, of a statement that waits for other locks as well. */
function refuseHeldKey(error: unknown): never {
  if (whereOf(error)?.includes('idempotency_keys')) return refuseWhileTwinRuns(error);
  throw error;
}

type Names = readonly [caller: string, operation: string, key: string];

/** What the answer is kept under; `undefined` for a request without a key. */
function namesOf(req: RoutedRequest): Names | undefined {
  const key = keyOf(req);
  return key === undefined ? undefined : [actorOf(principalOf(req)), metadataOf(routeOf(req)).operationId, key];
}

/** `Idempotency-Key: abc` or, as a structured field, `"abc"`. */
function keyOf(req: RoutedRequest): string | undefined {
  const header = req.get('idempotency-key');
  if (header === undefined) return undefined;
  const key = /^("?)([A-Za-z0-9._:-]{1,255})\1$/.exec(header)?.[2];
  if (key !== undefined) return key;
  throw problem('idempotency_key_invalid', {
    detail: 'Send 1 to 255 of A-Z, a-z, 0-9, `.`, `_`, `:` and `-`.',
    errors: [
      {
        in: 'header',
        parameter: 'Idempotency-Key',
        code: 'invalid_value',
        detail: 'Must be 1 to 255 of A-Z, a-z, 0-9, `.`, `_`, `:` and `-`.',
      },
    ],
  });
}

const batch = 1_000;

const sweep = statement<{ gone: number }>(
  'sweep_idempotency_keys',
  `delete from idempotency_keys where (caller, operation, key) in
     (select caller, operation, key from idempotency_keys where created_at < $1::timestamptz - interval '${keptFor}' limit ${batch} for update skip locked)
   returning 1 as gone`,
);

/** Forgets one batch of the keys whose answers are no longer kept; how many that were. Call it again while there are more. */
export const sweepIdempotencyKeys = async (em: Em, now: Date): Promise<number> => (await sweep(em, [now])).length;

const fingerprint = (req: RoutedRequest, content: unknown): string =>
  createHash('sha256')
    .update(`${req.path}\n${canonical(content)}`)
    .digest('base64url');

/** JSON with sorted keys: the same request in another order of fields is the same request. */
function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  const entries = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return `{${entries.map(([key, item]) => `${JSON.stringify(key)}:${canonical(item)}`).join(',')}}`;
}
