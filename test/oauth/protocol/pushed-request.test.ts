import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { useServer } from '../../support/server/with-server.ts';
import {
  authorizationRequest,
  authorizePath,
  basic,
  commandLine,
  redeem,
  refusal,
  signUp,
  webApplication,
  type AuthorizationRequest,
} from '../../support/oauth/oauth-flow.ts';

const server = useServer();

const push = (form: AuthorizationRequest, headers: Record<string, string> = {}): Promise<Response> =>
  fetch(`${server.origin}/oauth/par`, { method: 'POST', body: new URLSearchParams(form), headers });
const pushed = async (form: AuthorizationRequest, headers: Record<string, string> = {}) =>
  z.object({ request_uri: z.string(), expires_in: z.number() }).parse(await (await push(form, headers)).json());
const path = (requestUri: string, clientId = commandLine.clientId): string =>
  authorizePath({ client_id: clientId, request_uri: requestUri });

describe('a pushed request (96)', () => {
  test('stands for what was pushed, lives a minute, and works once', async () => {
    const { browser } = await signUp(server.origin);
    const { query, verifier } = authorizationRequest();
    const { request_uri: requestUri, expires_in: seconds } = await pushed(query);
    expect(seconds).toBeLessThanOrEqual(60);
    const { leaves } = await browser.submit(await browser.open(path(requestUri)), { decision: 'allow' });
    expect(leaves?.searchParams.get('state')).toBe(query['state']);
    const code = leaves?.searchParams.get('code') ?? '';
    expect(
      (await redeem(server.origin, { code, verifier, redirectUri: commandLine.redirectUri, clientId: commandLine.clientId })).status,
    ).toBe(200);
    const again = await browser.open(path(requestUri));
    expect([again.response.status, again.leaves]).toEqual([400, undefined]);
  });

  test('gives one code to many who come with it at once', async () => {
    const { browser } = await signUp(server.origin);
    const client = await webApplication(server.db, ['orders.read']);
    const { query } = authorizationRequest({ client_id: client.clientId, redirect_uri: client.redirectUri });
    await browser.submit(await browser.open(authorizePath(query)), { decision: 'allow' }); // not asked again
    const { request_uri: requestUri } = await pushed(query, basic(client.clientId, client.secret));
    const answers = await Promise.all(Array.from({ length: 10 }, () => browser.open(path(requestUri, client.clientId))));
    expect(answers.filter(({ leaves }) => leaves?.searchParams.has('code'))).toHaveLength(1);
    expect(server.failures).toEqual([]);
  });

  test('belongs to the application that pushed it', async () => {
    const { browser } = await signUp(server.origin);
    const other = await webApplication(server.db, ['orders.read']);
    const { request_uri: requestUri } = await pushed(authorizationRequest().query);
    const answer = await browser.open(path(requestUri, other.clientId));
    expect([answer.response.status, answer.leaves]).toEqual([400, undefined]);
  });

  test('ends after its minute', async () => {
    const { browser } = await signUp(server.origin);
    const { request_uri: requestUri } = await pushed(authorizationRequest().query);
    await server.db.em.fork().execute(`update oauth_records set expires_at = now() where model = 'PushedAuthorizationRequest'`);
    expect((await browser.open(path(requestUri))).response.status).toBe(400);
  });

  test('is checked when it is pushed, and takes the secret of who has one', async () => {
    expect(await refusal(await push(authorizationRequest({ redirect_uri: 'https://evil.example/' }).query))).toBe('400 invalid_request');
    const { query } = authorizationRequest();
    expect(await refusal(await push({ ...query, code_challenge_method: 'plain' }))).toBe('400 invalid_request');
    const client = await webApplication(server.db, ['orders.read']);
    const theirs = authorizationRequest({ client_id: client.clientId, redirect_uri: client.redirectUri }).query;
    expect(await refusal(await push(theirs))).toBe('401 invalid_client');
    expect(await refusal(await push(theirs, basic(client.clientId, 'wrong')))).toBe('401 invalid_client');
  });

  test('is not taken by the name that the table has for it', async () => {
    const { browser } = await signUp(server.origin);
    await pushed(authorizationRequest().query);
    const [row] = await server.db.em
      .fork()
      .execute<{ id: string }[]>(
        `select id from oauth_records where model = 'PushedAuthorizationRequest' order by expires_at desc limit 1`,
      );
    expect(row?.id).toMatch(/^h\./);
    expect((await browser.open(path(`urn:ietf:params:oauth:request_uri:${row?.id}`))).response.status).toBe(400);
  });
});
