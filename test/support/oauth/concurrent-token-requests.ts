import { expect } from 'vitest';
import { z } from 'zod';
import { hashSecretRecordId } from '../../../server/oauth/storage/oauth-record-mapping.ts';
import { buildFormRequest } from '../browser/browser.ts';
import {
  buildAuthorizationRequest,
  obtainAuthorizationCode,
  authorizationPath,
  redeemCode,
  sendRefreshRequest,
  tokenResponseSchema,
  obtainTokens,
  type TestUser,
} from './oauth-flow.ts';
import { fetchApiStatus, type RunningServer } from '../server/use-server.ts';

type Origin = Pick<RunningServer, 'origin'>;

export const raceRounds = 20;
export const concurrentRequests = 20;

export type RaceOutcome = {
  readonly tokenResponses: readonly z.infer<typeof tokenResponseSchema>[];
  readonly errors: readonly string[];
  readonly validTokenCount: number;
};

/** Sends the same request twenty times concurrently and counts the issued tokens that are valid afterwards. */
async function race(server: Origin, request: () => Promise<Response>): Promise<RaceOutcome> {
  const responses = await Promise.all(
    Array.from({ length: concurrentRequests }, async () => {
      const response = await request();
      return { status: response.status, body: z.record(z.unknown()).parse(await response.json()) };
    }),
  );
  const winners = responses.filter(({ status }) => status === 200).map(({ body }) => tokenResponseSchema.parse(body));
  const refusals = responses.filter(({ status }) => status !== 200).map(({ status, body }) => `${status} ${String(body['error'])}`);
  let alive = 0;
  for (const { access_token, refresh_token = '' } of winners) {
    if ((await fetchApiStatus(server, access_token)) === 200) alive += 1;
    if ((await sendRefreshRequest(server.origin, refresh_token)).status === 200) alive += 1;
  }
  return { tokenResponses: winners, errors: refusals, validTokenCount: alive };
}

const scope = { scope: 'openid users.read' };

export async function raceCodeRedemption(server: Origin, person: Pick<TestUser, 'browser'>): Promise<RaceOutcome> {
  const granted = await obtainAuthorizationCode(server.origin, person, scope);
  return race(server, () => redeemCode(server.origin, granted));
}

export async function raceTokenRefresh(server: Origin, person: Pick<TestUser, 'browser'>): Promise<RaceOutcome> {
  const { refresh_token = '' } = await obtainTokens(server.origin, person, ['users.read']);
  return race(server, () => sendRefreshRequest(server.origin, refresh_token));
}

/** Result of concurrent requests with the same refresh token: the responses, and whether the new refresh tokens are valid afterwards. */
export type SuccessorOutcome = {
  /** The distinct responses, each as status and body. */
  readonly responses: readonly string[];
  /** The number of distinct new refresh tokens in the responses, and the number of new refresh tokens in the database. */
  readonly successors: { readonly received: number; readonly stored: number };
  /** Status codes of three subsequent refresh requests: with the successor token, with the old token and with the newest token. */
  readonly laterStatuses: readonly number[];
};

/** Sends concurrent refresh requests with one token. Then refreshes with the successor token, the old token and the newest token. */
export async function raceSuccessorTokens(
  { origin, db }: Origin & Pick<RunningServer, 'db'>,
  person: Pick<TestUser, 'browser'>,
): Promise<SuccessorOutcome> {
  const { refresh_token: old = '' } = await obtainTokens(origin, person, ['users.read']);
  const responses = await Promise.all(
    Array.from({ length: concurrentRequests }, async () => {
      const response = await sendRefreshRequest(origin, old);
      return { status: response.status, text: await response.text() };
    }),
  );
  const received = responses.filter(({ status }) => status === 200).map(({ text }) => parseRefreshToken(text));
  const stored = await db.em.fork().execute<object[]>(
    `select 1 from oauth_records t join oauth_records o on o.grant_id = t.grant_id
       where t.model = 'RefreshToken' and o.model = 'RefreshToken' and o.id = ? and t.id <> o.id`,
    [hashSecretRecordId(old)],
  );
  const used = await sendRefreshRequest(origin, received[0] ?? '');
  const newest = used.status === 200 ? parseRefreshToken(await used.text()) : '';
  return {
    responses: [...new Set(responses.map(({ status, text }) => `${status} ${text}`))],
    successors: { received: new Set(received).size, stored: stored.length },
    laterStatuses: [used.status, (await sendRefreshRequest(origin, old)).status, (await sendRefreshRequest(origin, newest)).status],
  };
}

const parseRefreshToken = (body: string): string => tokenResponseSchema.parse(JSON.parse(body)).refresh_token ?? '';

/** Submits the consent form five times concurrently. Returns the issued authorization codes. */
export async function raceConsentForm({ origin }: Origin, { browser }: Pick<TestUser, 'browser'>): Promise<string[]> {
  const page = await browser.open(authorizationPath(buildAuthorizationRequest(scope).query));
  const submit = buildFormRequest(page, { decision: 'allow' });
  const responses = await Promise.all(Array.from({ length: 5 }, () => browser.open(page.url.href, submit)));
  expect(responses.filter(({ response }) => response.status >= 500).map(({ text }) => `${origin} ${text}`)).toEqual([]);
  return responses.flatMap(({ externalRedirect: leaves }) => leaves?.searchParams.getAll('code') ?? []);
}
