import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { useServer } from '../../support/server/use-server.ts';
import {
  buildAuthorizationRequest,
  authorizationPath,
  basicAuthorization,
  cliClient,
  redeemCode,
  readOAuthError,
  signUp,
  createWebApplication,
  type AuthorizationParameters,
} from '../../support/oauth/oauth-flow.ts';

const server = useServer();

const push = (form: AuthorizationParameters, headers: Record<string, string> = {}): Promise<Response> =>
  fetch(`${server.origin}/oauth/par`, { method: 'POST', body: new URLSearchParams(form), headers });
const pushSuccessfully = async (form: AuthorizationParameters, headers: Record<string, string> = {}) =>
  z.object({ request_uri: z.string(), expires_in: z.number() }).parse(await (await push(form, headers)).json());
const pushedRequestPath = (requestUri: string, clientId = cliClient.clientId): string =>
  authorizationPath({ client_id: clientId, request_uri: requestUri });

describe('a pushed authorization request (96)', () => {
  test('uses the pushed parameters, is valid for a minute, and can be used once', async () => {
    const { browser } = await signUp(server.origin);
    const { query, verifier } = buildAuthorizationRequest();
    const { request_uri: requestUri, expires_in: seconds } = await pushSuccessfully(query);
    expect(seconds).toBeLessThanOrEqual(60);
    const { externalRedirect: leaves } = await browser.submit(await browser.open(pushedRequestPath(requestUri)), { decision: 'allow' });
    expect(leaves?.searchParams.get('state')).toBe(query['state']);
    const code = leaves?.searchParams.get('code') ?? '';
    expect(
      (await redeemCode(server.origin, { code, verifier, redirectUri: cliClient.redirectUri, clientId: cliClient.clientId })).status,
    ).toBe(200);
    const secondPage = await browser.open(pushedRequestPath(requestUri));
    expect([secondPage.response.status, secondPage.externalRedirect]).toEqual([400, undefined]);
  });

  test('returns one code for concurrent uses', async () => {
    const { browser } = await signUp(server.origin);
    const client = await createWebApplication(server.db, ['orders.read']);
    const { query } = buildAuthorizationRequest({ client_id: client.clientId, redirect_uri: client.redirectUri });
    await browser.submit(await browser.open(authorizationPath(query)), { decision: 'allow' }); // consents in advance
    const { request_uri: requestUri } = await pushSuccessfully(query, basicAuthorization(client.clientId, client.secret));
    const pages = await Promise.all(Array.from({ length: 10 }, () => browser.open(pushedRequestPath(requestUri, client.clientId))));
    expect(pages.filter(({ externalRedirect: leaves }) => leaves?.searchParams.has('code'))).toHaveLength(1);
    expect(server.warnings).toEqual([]);
  });

  test('is rejected from another application', async () => {
    const { browser } = await signUp(server.origin);
    const other = await createWebApplication(server.db, ['orders.read']);
    const { request_uri: requestUri } = await pushSuccessfully(buildAuthorizationRequest().query);
    const page = await browser.open(pushedRequestPath(requestUri, other.clientId));
    expect([page.response.status, page.externalRedirect]).toEqual([400, undefined]);
  });

  test('is rejected after a minute', async () => {
    const { browser } = await signUp(server.origin);
    const { request_uri: requestUri } = await pushSuccessfully(buildAuthorizationRequest().query);
    await server.db.em.fork().execute(`update oauth_records set expires_at = now() where model = 'PushedAuthorizationRequest'`);
    expect((await browser.open(pushedRequestPath(requestUri))).response.status).toBe(400);
  });

  test('is validated when it is pushed, and requires the secret of a confidential application', async () => {
    expect(await readOAuthError(await push(buildAuthorizationRequest({ redirect_uri: 'https://evil.example/' }).query))).toBe(
      '400 invalid_request',
    );
    const { query } = buildAuthorizationRequest();
    expect(await readOAuthError(await push({ ...query, code_challenge_method: 'plain' }))).toBe('400 invalid_request');
    const client = await createWebApplication(server.db, ['orders.read']);
    const confidentialRequest = buildAuthorizationRequest({ client_id: client.clientId, redirect_uri: client.redirectUri }).query;
    expect(await readOAuthError(await push(confidentialRequest))).toBe('401 invalid_client');
    expect(await readOAuthError(await push(confidentialRequest, basicAuthorization(client.clientId, 'wrong')))).toBe('401 invalid_client');
  });

  test('is rejected with its stored record ID as request_uri', async () => {
    const { browser } = await signUp(server.origin);
    await pushSuccessfully(buildAuthorizationRequest().query);
    const [row] = await server.db.em
      .fork()
      .execute<{ id: string }[]>(
        `select id from oauth_records where model = 'PushedAuthorizationRequest' order by expires_at desc limit 1`,
      );
    expect(row?.id).toMatch(/^h\./);
    expect((await browser.open(pushedRequestPath(`urn:ietf:params:oauth:request_uri:${row?.id}`))).response.status).toBe(400);
  });
});
