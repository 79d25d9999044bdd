import { expect } from 'vitest';
import { z } from 'zod';
import { hashRecordId } from '../../../server/oauth/storage/oauth-record-mapping.ts';
import { formRequest } from '../browser/browser.ts';
import { authorizationRequest, authorize, authorizePath, redeem, refresh, tokenResponse, tokensFor, type Person } from './oauth-flow.ts';
import { apiStatus, type RunningServer } from '../server/with-server.ts';

type Origin = Pick<RunningServer, 'origin'>;

export const rounds = 20;
export const atOnce = 20;

export type Outcome = {
  readonly winners: readonly z.infer<typeof tokenResponse>[];
  readonly refusals: readonly string[];
  readonly alive: number;
};

/** Sends the same request twenty times concurrently and counts the tokens that are valid afterwards. */
async function race(server: Origin, request: () => Promise<Response>): Promise<Outcome> {
  const responses = await Promise.all(
    Array.from({ length: atOnce }, async () => {
      const response = await request();
      return { status: response.status, body: z.record(z.unknown()).parse(await response.json()) };
    }),
  );
  const winners = responses.filter(({ status }) => status === 200).map(({ body }) => tokenResponse.parse(body));
  const refusals = responses.filter(({ status }) => status !== 200).map(({ status, body }) => `${status} ${String(body['error'])}`);
  let alive = 0;
  for (const { access_token, refresh_token = '' } of winners) {
    if ((await apiStatus(server, access_token)) === 200) alive += 1;
    if ((await refresh(server.origin, refresh_token)).status === 200) alive += 1;
  }
  return { winners, refusals, alive };
}

const scope = { scope: 'openid users.read' };

export async function raceForACode(server: Origin, person: Pick<Person, 'browser'>): Promise<Outcome> {
  const granted = await authorize(server.origin, person, scope);
  return race(server, () => redeem(server.origin, granted));
}

export async function raceForARefresh(server: Origin, person: Pick<Person, 'browser'>): Promise<Outcome> {
  const { refresh_token = '' } = await tokensFor(server.origin, person, ['users.read']);
  return race(server, () => refresh(server.origin, refresh_token));
}

/** Responses to concurrent requests with one refresh token, and the validity of its successors afterwards. */
export type SharedOutcome = {
  /** The distinct responses, as status and body. */
  readonly answers: readonly string[];
  /** The number of distinct new refresh tokens in the responses, and the number in the database. */
  readonly successors: { readonly received: number; readonly stored: number };
  /** Status codes of three refresh requests in this order: with the successor, with the old token, with the newest token. */
  readonly afterwards: readonly number[];
};

/** Sends concurrent refresh requests with one token, then uses its successor, and then the old token. */
export async function raceForASuccessor(
  { origin, db }: Origin & Pick<RunningServer, 'db'>,
  person: Pick<Person, 'browser'>,
): Promise<SharedOutcome> {
  const { refresh_token: old = '' } = await tokensFor(origin, person, ['users.read']);
  const responses = await Promise.all(
    Array.from({ length: atOnce }, async () => {
      const response = await refresh(origin, old);
      return { status: response.status, text: await response.text() };
    }),
  );
  const received = responses.filter(({ status }) => status === 200).map(({ text }) => parseRefreshToken(text));
  const stored = await db.em.fork().execute<object[]>(
    `select 1 from oauth_records t join oauth_records o on o.grant_id = t.grant_id
       where t.model = 'RefreshToken' and o.model = 'RefreshToken' and o.id = ? and t.id <> o.id`,
    [hashRecordId(old)],
  );
  const used = await refresh(origin, received[0] ?? '');
  const newest = used.status === 200 ? parseRefreshToken(await used.text()) : '';
  return {
    answers: [...new Set(responses.map(({ status, text }) => `${status} ${text}`))],
    successors: { received: new Set(received).size, stored: stored.length },
    afterwards: [used.status, (await refresh(origin, old)).status, (await refresh(origin, newest)).status],
  };
}

const parseRefreshToken = (body: string): string => tokenResponse.parse(JSON.parse(body)).refresh_token ?? '';

/** Submits the consent form five times concurrently. Returns the issued authorization codes. */
export async function raceForAConsent({ origin }: Origin, { browser }: Pick<Person, 'browser'>): Promise<string[]> {
  const page = await browser.open(authorizePath(authorizationRequest(scope).query));
  const submit = formRequest(page, { decision: 'allow' });
  const responses = await Promise.all(Array.from({ length: 5 }, () => browser.open(page.url.href, submit)));
  expect(responses.filter(({ response }) => response.status >= 500).map(({ text }) => `${origin} ${text}`)).toEqual([]);
  return responses.flatMap(({ leaves }) => leaves?.searchParams.getAll('code') ?? []);
}
