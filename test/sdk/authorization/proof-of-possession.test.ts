import { decodeJwt } from 'jose';
import { describe, expect, test } from 'vitest';
import { createClient, type TokenSource } from '@mandate/client-sdk';
import {
  beginAuthorization,
  beginDeviceAuthorization,
  completeAuthorization,
  completeDeviceAuthorization,
  discover,
  exportProofKey,
  importProofKey,
  memoryStore,
  newProofKey,
  refreshingTokens,
  type ProofKey,
  type Tokens,
} from '@mandate/client-sdk/authorization';
import { listenOnLoopback, signInOnLoopback } from '@mandate/client-sdk/authorization/node';
import { approveDevice, expirePollIntervalSql } from '../../support/oauth/device-flow.ts';
import { cliClient, sendRefreshRequest, readOAuthError, signUp, type TestUser } from '../../support/oauth/oauth-flow.ts';
import { useServer } from '../../support/server/use-server.ts';

const server = useServer();
const { clientId } = cliClient;
const scopes = ['openid', 'offline_access', 'users.read'];

/** Completes a sign-in in the user's browser. */
const agree =
  ({ browser }: TestUser) =>
  async (url: string): Promise<void> => {
    const consent = await browser.open(url);
    const { externalRedirect: leaves } = await browser.submit(consent, { decision: 'allow' });
    if (!leaves) throw new Error('the browser was not redirected');
    await fetch(leaves);
  };

const signInOnThisMachine = async (anna: TestUser, proofKey?: ProofKey): Promise<Tokens> =>
  signInOnLoopback(await discover(server.origin, { proofKey }), { clientId, scopes, open: agree(anna) });

const clientOf = (auth: TokenSource) => createClient({ baseUrl: server.origin, auth });
const expired = (tokens: Tokens): Tokens => ({ ...tokens, expiresAt: 0 });

describe('tokens bound to a key', () => {
  test('can be used with the key, even after a refresh and after the key has been exported', async () => {
    const anna = await signUp(server.origin);
    const proofKey = await newProofKey({ extractable: true });
    const tokens = await signInOnThisMachine(anna, proofKey);
    expect(decodeJwt(tokens.accessToken)['cnf']).toEqual({ jkt: expect.any(String) });
    const store = memoryStore(tokens);
    const auth = refreshingTokens({ issuer: server.origin, clientId, store, proofKey });
    expect(await clientOf(auth).users.me()).toMatchObject({ id: anna.id });
    await store.write(expired(tokens));
    const written = await importProofKey(await exportProofKey(proofKey));
    const later = refreshingTokens({ issuer: server.origin, clientId, store, proofKey: async () => written });
    expect(await clientOf(later).users.me()).toMatchObject({ id: anna.id });
    expect((await store.read())?.accessToken).not.toBe(tokens.accessToken);
  });

  test('cannot be used without the key, neither the refresh token nor the access token', async () => {
    const proofKey = await newProofKey();
    const tokens = await signInOnThisMachine(await signUp(server.origin), proofKey);
    const stolen = (key?: ProofKey) =>
      refreshingTokens({ issuer: server.origin, clientId, store: memoryStore(expired(tokens)), ...(key && { proofKey: key }) });
    await expect(clientOf(stolen()).users.me()).rejects.toMatchObject({ code: 'sign_in_required' });
    await expect(clientOf(stolen(await newProofKey())).users.me()).rejects.toMatchObject({ code: 'sign_in_required' });
    expect(await readOAuthError(await sendRefreshRequest(server.origin, tokens.refreshToken ?? ''))).toBe('400 invalid_grant');
    await expect(createClient({ baseUrl: server.origin, auth: tokens.accessToken }).users.me()).rejects.toMatchObject({ status: 401 });
    // These attempts did not revoke the user's tokens.
    const auth = refreshingTokens({ issuer: server.origin, clientId, store: memoryStore(expired(tokens)), proofKey });
    await expect(clientOf(auth).users.me()).resolves.toBeDefined();
  });

  test('an authorization code is also bound to the key', async () => {
    const anna = await signUp(server.origin);
    const mine = await discover(server.origin, { proofKey: await newProofKey() });
    const theirs = await discover(server.origin, { proofKey: await newProofKey() });
    const request = await beginAuthorization(mine, { clientId, scopes, redirectUri: cliClient.redirectUri });
    const { externalRedirect: leaves } = await anna.browser.submit(await anna.browser.open(request.url), { decision: 'allow' });
    if (!leaves) throw new Error('the browser was not redirected');
    await expect(completeAuthorization(theirs, request, leaves)).rejects.toMatchObject({ error: 'invalid_grant' });
  });

  test('that were issued before the key was created are bound to it by the next refresh', async () => {
    const anna = await signUp(server.origin);
    const store = memoryStore(await signInOnThisMachine(anna));
    const auth = refreshingTokens({ issuer: server.origin, clientId, store, proofKey: await newProofKey() });
    expect(await clientOf(auth).users.me()).toMatchObject({ id: anna.id });
    expect(decodeJwt((await store.read())?.accessToken ?? '')['cnf']).toBeDefined();
  });
});

test('a key that is not extractable cannot be exported', async () => {
  await expect(exportProofKey(await newProofKey())).rejects.toThrow(/extractable/);
});

describe('a device without a browser', () => {
  const patience = () => server.db.em.fork().execute(expirePollIntervalSql);

  test('gets tokens bound to its key after the user has given consent', async () => {
    const found = await discover(server.origin, { proofKey: await newProofKey() });
    const device = await beginDeviceAuthorization(found, { clientId, scopes });
    expect(device).toMatchObject({ verificationUri: `${server.origin}/oauth/device`, intervalMs: 5000 });
    expect(device.verificationUriComplete).toContain(device.userCode);
    await approveDevice(await signUp(server.origin), device.userCode);
    await patience();
    const tokens = await completeDeviceAuthorization(found, { ...device, intervalMs: 1 });
    expect(tokens.scopes).toContain('users.read');
    expect(decodeJwt(tokens.accessToken)['cnf']).toBeDefined();
  });

  test('waits for consent until the caller aborts', async () => {
    const found = await discover(server.origin);
    const device = await beginDeviceAuthorization(found, { clientId, scopes });
    const pending = completeDeviceAuthorization(found, { ...device, intervalMs: 1 }, AbortSignal.timeout(300));
    await expect(pending).rejects.toMatchObject({ code: 'aborted' });
  });

  test('fails when the code has expired', async () => {
    const found = await discover(server.origin);
    const device = await beginDeviceAuthorization(found, { clientId, scopes });
    const late = completeDeviceAuthorization(found, { ...device, intervalMs: 1, expiresAt: 0 });
    await expect(late).rejects.toMatchObject({ error: 'expired_token' });
  });
});

describe('loopback sign-in', () => {
  test('aborting the signal cancels the sign-in and closes the port', async () => {
    let address = '';
    const open = (url: string): void => void (address = new URL(url).searchParams.get('redirect_uri') ?? '');
    const signedIn = signInOnLoopback(await discover(server.origin), { clientId, scopes, open, signal: AbortSignal.timeout(100) });
    await expect(signedIn).rejects.toMatchObject({ code: 'aborted' });
    await expect(fetch(address)).rejects.toThrow('fetch failed');
  });

  test('requests with another host, path or state have no effect', async () => {
    const loopback = await listenOnLoopback();
    const signal = AbortSignal.timeout(5000);
    const outcome = loopback.callback('right', async (url) => url.searchParams.get('code'), signal);
    const statuses: number[] = [];
    for (const url of ['/callback?state=wrong&code=1', '/', '/callback?state=right&code=2', '/callback?state=right&code=3'])
      statuses.push((await fetch(new URL(url, loopback.redirectUri))).status);
    expect(statuses).toEqual([400, 404, 200, 410]);
    expect(await outcome).toBe('2');
    await loopback.close();
  });
});
