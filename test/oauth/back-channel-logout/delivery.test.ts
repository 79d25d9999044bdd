import { decodeJwt } from 'jose';
import { beforeEach, expect, test } from 'vitest';
import { submitFormContaining } from '../../support/oauth/account-pages.ts';
import {
  createLogoutApplication,
  createLogoutTokenSender,
  sendDueLogoutTokens,
  useLogoutTokenReceiver,
} from '../../support/oauth/logout-tokens.ts';
import { signInToApplication, signUp } from '../../support/oauth/oauth-flow.ts';
import { requireOneProcess } from '../../support/server/process-mode.ts';
import { useServer } from '../../support/server/use-server.ts';

requireOneProcess('the tests send the logout tokens themselves');
const server = useServer();
const receiver = useLogoutTokenReceiver();
const { signal } = new AbortController();
beforeEach(() => server.db.em.fork().execute('delete from logout_notifications'));

const inSeconds = (seconds: number): Date => new Date(Date.now() + seconds * 1000);

/** Signs a new user in to a new application, and out again. */
async function signInAndOut(url = receiver.url): Promise<{ readonly clientId: string }> {
  const user = await signUp(server.origin);
  const application = await createLogoutApplication(server.db, url);
  await signInToApplication(server.origin, user, application);
  const signedOut = await submitFormContaining(user.browser, await user.browser.open('/account'), 'action="/sign-out"');
  expect(signedOut.text).toContain('You are signed out');
  return application;
}

const countQueuedTokens = async ({ clientId }: { readonly clientId: string }): Promise<number> => {
  const rows = await server.db.em
    .fork()
    .execute('select 1 from logout_notifications n join applications a on a.id = n.application_id where a.client_id = ?', [clientId]);
  return rows.length;
};

test.each([
  ['an error', 500],
  ['a redirect', 302],
])('a logout token that gets %s is sent again with a new jti, until the application acknowledges it', async (_, status) => {
  receiver.respond = (res) => res.writeHead(status, { location: `${receiver.url}/elsewhere` }).end();
  const application = await signInAndOut();
  await sendDueLogoutTokens(server);
  expect(await sendDueLogoutTokens(server)).toBe(0); // the next attempt is not due yet
  await sendDueLogoutTokens(server, inSeconds(6));
  receiver.respond = (res) => res.writeHead(204).end();
  await sendDueLogoutTokens(server, inSeconds(120));
  expect(receiver.requests.map(({ path }) => path)).toEqual(['/logout', '/logout', '/logout']);
  const claims = receiver.requests.map(({ token }) => decodeJwt(token));
  expect(new Set(claims.map(({ jti }) => jti)).size).toBe(3);
  expect(new Set(claims.map(({ sid }) => sid)).size).toBe(1);
  expect(await countQueuedTokens(application)).toBe(0);
});

test('a logout token that is never acknowledged is discarded after seven attempts, and the log does not contain it', async () => {
  receiver.respond = (res) => res.writeHead(400).end();
  const application = await signInAndOut();
  const logged: string[] = [];
  const log = { warn: (details: object, message: string): void => void logged.push(`${message} ${JSON.stringify(details)}`) };
  const sender = createLogoutTokenSender(server, { log });
  for (let day = 0; day < 8; day += 1) await sender.sendBatch(signal, inSeconds(day * 24 * 60 * 60));
  expect(receiver.requests).toHaveLength(7);
  expect(await countQueuedTokens(application)).toBe(0);
  expect(logged).toHaveLength(7);
  expect(logged.at(-1)).toContain(`gave up sending a logout token {"client_id":"${application.clientId}","attempts":7`);
  for (const { token } of receiver.requests) expect(logged.join('\n')).not.toContain(token);
});

test('an application that does not respond delays neither the sign-out nor tokens for other applications', async () => {
  receiver.respond = () => undefined;
  await signInAndOut(`${receiver.url}/slow`);
  const application = await signInAndOut();
  receiver.respond = (res) => (receiver.requests.at(-1)?.path === '/logout' ? res.writeHead(200).end() : undefined);
  const sending = sendDueLogoutTokens(server);
  await expect.poll(() => countQueuedTokens(application), { timeout: 4_000 }).toBe(0);
  await sending; // the five-second timeout
  expect(receiver.requests.map(({ path }) => path).toSorted()).toEqual(['/logout', '/logout/slow']);
}, 20_000);

test('if a process dies while it sends a token, another process sends the token after a minute', async () => {
  receiver.respond = () => undefined;
  const application = await signInAndOut();
  const dying = new AbortController();
  const sending = createLogoutTokenSender(server).sendBatch(dying.signal);
  await expect.poll(() => receiver.requests.length).toBe(1);
  dying.abort();
  await sending;
  receiver.respond = (res) => res.writeHead(200).end();
  expect(await sendDueLogoutTokens(server)).toBe(0);
  await sendDueLogoutTokens(server, inSeconds(61));
  expect(receiver.requests).toHaveLength(2);
  expect(await countQueuedTokens(application)).toBe(0);
});

test('two processes send each token once', async () => {
  for (let n = 0; n < 5; n += 1) await signInAndOut();
  const senders = [createLogoutTokenSender(server), createLogoutTokenSender(server)];
  await Promise.all(senders.map((sender) => sender.sendBatch(signal)));
  await sendDueLogoutTokens(server);
  expect(new Set(receiver.requests.map(({ token }) => decodeJwt(token)['aud'])).size).toBe(5);
  expect(receiver.requests).toHaveLength(5);
});

test('a token is not sent to an address that is not public, even if the host name has been registered', async () => {
  await signInAndOut('https://app.example/logout');
  const errors: unknown[] = [];
  const network = { resolve: async () => [{ address: '10.0.0.1', family: 4 }], isAllowed: () => false, development: false };
  const log = { warn: (details: object): void => void errors.push(details) };
  await createLogoutTokenSender(server, { network, log }).sendBatch(signal);
  expect(errors).toEqual([expect.objectContaining({ err: expect.objectContaining({ name: 'AddressNotAllowedError' }) })]);
});

test.each([
  ['is disabled', `update applications set status = 'disabled' where client_id = ?`],
  ['no longer has a URL for it', 'update applications set backchannel_logout_uri = null where client_id = ?'],
])('a queued token is dropped if the application %s', async (_, change) => {
  const application = await signInAndOut();
  await server.db.em.fork().execute(change, [application.clientId]);
  await sendDueLogoutTokens(server);
  expect([receiver.requests.length, await countQueuedTokens(application)]).toEqual([0, 0]);
});

test('the server metadata announces back-channel logout with sid', async () => {
  const document = await (await fetch(`${server.origin}/.well-known/openid-configuration`)).json();
  expect(document).toMatchObject({ backchannel_logout_supported: true, backchannel_logout_session_supported: true });
});
