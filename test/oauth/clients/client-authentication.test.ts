import { once } from 'node:events';
import { connect } from 'node:net';
import { expect, test } from 'vitest';
import { useServer } from '../../support/server/with-server.ts';
import {
  askForTokens,
  basic,
  clientCredentials,
  commandLine,
  confidentialClient,
  refusal,
  tokenResponse,
} from '../../support/oauth/oauth-flow.ts';

const server = useServer();
const ask = (form: Record<string, string>, headers?: Record<string, string>) => askForTokens(server.origin, form, headers);
const forItself = { grant_type: 'client_credentials', scope: 'orders.manage' };

test('a wrong secret and an unknown application are answered alike (43)', async () => {
  const client = await confidentialClient(server.db, ['orders.manage']);
  const answers = await Promise.all([ask(forItself, basic(client.clientId, 'wrong')), ask(forItself, basic('nobody-knows', 'wrong'))]);
  for (const answer of answers) expect(answer.headers.get('www-authenticate')).toMatch(/^Basic realm="/);
  const [wrong, unknown] = await Promise.all(answers.map(async (answer) => [answer.status, await answer.json()]));
  expect(wrong).toEqual([401, { error: 'invalid_client', error_description: 'client authentication failed' }]);
  expect(unknown).toEqual(wrong);
});

test('the hash of the secret is not the secret', async () => {
  const client = await confidentialClient(server.db, ['orders.manage']);
  const [row] = await server.db.em
    .fork()
    .execute<{ hash: string }[]>('select secret_hashes[1] as hash from applications where client_id = ?', [client.clientId]);
  expect(row?.hash).not.toContain(client.secret);
  expect(await refusal(await ask(forItself, basic(client.clientId, row?.hash ?? '')))).toBe('401 invalid_client');
});

test('the secret is taken from the header or from the body, and not from both (44)', async () => {
  const { clientId, secret } = await confidentialClient(server.db, ['orders.manage']);
  const posted = { ...forItself, client_id: clientId, client_secret: secret };
  expect((await ask(forItself, basic(clientId, secret))).status).toBe(200);
  expect((await ask(posted)).status).toBe(200);
  expect(await refusal(await ask(posted, basic(clientId, secret)))).toBe('400 invalid_request');
  expect(await refusal(await ask({ ...forItself, client_id: clientId }))).toBe('401 invalid_client');
  expect(await refusal(await ask(forItself))).toBe('401 invalid_client');
});

test('a secret in the query string is refused (45)', async () => {
  const { clientId, secret } = await confidentialClient(server.db, ['orders.manage']);
  const query = new URLSearchParams({ client_id: clientId, client_secret: secret });
  const response = await fetch(`${server.origin}/oauth/token?${query.toString()}`, {
    method: 'POST',
    body: new URLSearchParams(forItself),
  });
  expect(await refusal(response)).toBe('401 invalid_client');
});

test('a public application cannot act for itself (46)', async () => {
  expect(await refusal(await ask({ ...forItself, client_id: commandLine.clientId }))).toBe('400 unauthorized_client');
});

test('there is no password grant, and no grant without a name (47)', async () => {
  const { clientId, secret } = await confidentialClient(server.db, []);
  expect(await refusal(await ask({ grant_type: 'password', username: 'a', password: 'b' }, basic(clientId, secret)))).toBe(
    '400 unsupported_grant_type',
  );
  expect(await refusal(await ask({}, basic(clientId, secret)))).toBe('400 invalid_request');
});

test('the token endpoint takes a short form by POST and nothing else (48)', async () => {
  const url = `${server.origin}/oauth/token`;
  const json = await fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(forItself) });
  expect(await refusal(json)).toBe('400 invalid_request');
  expect((await fetch(url)).status).toBe(405);
  expect((await fetch(`${server.origin}/oauth/nothing-here`)).status).toBe(404);
  const long = await ask({ ...forItself, padding: 'x'.repeat(60_000) });
  expect(long.status).toBe(400);
});

test('answers of the token endpoint are not kept, good or bad (49)', async () => {
  const { clientId, secret } = await confidentialClient(server.db, ['orders.manage']);
  for (const response of [await ask(forItself, basic(clientId, secret)), await ask(forItself)]) {
    expect(response.headers.get('cache-control')).toBe('no-store');
    expect(response.headers.get('pragma')).toBe('no-cache');
  }
});

test('an application that acts for itself: its own subject, no refresh token, no scope beyond its own (50, 51)', async () => {
  const client = await confidentialClient(server.db, ['orders.manage', 'users.manage']);
  const tokens = tokenResponse.parse(await (await ask(forItself, basic(client.clientId, client.secret))).json());
  expect(tokens).toEqual({ access_token: expect.any(String), token_type: 'Bearer', expires_in: 300, scope: 'orders.manage' });
  const claims: unknown = JSON.parse(Buffer.from(tokens.access_token.split('.')[1] ?? '', 'base64url').toString());
  expect(claims).toMatchObject({ sub: client.clientId, client_id: client.clientId, aud: `${server.origin}/api`, iss: server.origin });
  expect(await refusal(await ask({ ...forItself, scope: 'products.write' }, basic(client.clientId, client.secret)))).toBe(
    '400 invalid_scope',
  );
});

test('an application that names no scope gets the ones it is registered for, and none when there are none (52)', async () => {
  const some = await confidentialClient(server.db, ['orders.manage', 'users.manage']);
  const scopeless = { grant_type: 'client_credentials' };
  const all = tokenResponse.parse(await (await ask(scopeless, basic(some.clientId, some.secret))).json());
  expect(all.scope).toBe('orders.manage users.manage');
  const none = await confidentialClient(server.db, []);
  const empty = tokenResponse.parse(await (await ask(scopeless, basic(none.clientId, none.secret))).json());
  expect(empty.scope).toBeUndefined();
  expect(await refusal(await ask({ ...scopeless, scope: 'users.read' }, basic(none.clientId, none.secret)))).toBe('400 invalid_scope');
});

test('a disabled application gets nothing, and its tokens end at once (74)', async () => {
  const client = await confidentialClient(server.db, ['users.manage']);
  const token = await clientCredentials(server.origin, client, ['users.manage']);
  const list = () => fetch(`${server.origin}/api/v1/users/1`, { headers: { authorization: `Bearer ${token}` } });
  expect((await list()).status).toBe(404);
  await server.db.em.fork().execute(`update applications set status = 'disabled' where client_id = ?`, [client.clientId]);
  expect((await list()).status).toBe(401);
  expect(await refusal(await ask(forItself, basic(client.clientId, client.secret)))).toBe('401 invalid_client');
});

test('a ceiling that is lowered holds for the tokens there are (16)', async () => {
  const client = await confidentialClient(server.db, ['users.manage']);
  const token = await clientCredentials(server.origin, client, ['users.manage']);
  const read = () => fetch(`${server.origin}/api/v1/users/1`, { headers: { authorization: `Bearer ${token}` } });
  expect((await read()).status).toBe(404);
  await server.db.em.fork().execute(`update applications set scopes = '{}' where client_id = ?`, [client.clientId]);
  expect((await read()).status).toBe(403);
});

test('what is refused or fails says nothing about the inside (53)', async () => {
  const client = await confidentialClient(server.db, ['orders.manage']);
  const credentials = basic(client.clientId, client.secret);
  const answers = [
    await ask(
      { grant_type: 'authorization_code', code: 'a-code-that-is-none', redirect_uri: 'x', code_verifier: 'x'.repeat(43) },
      credentials,
    ),
    await ask({ grant_type: 'refresh_token', refresh_token: 'a-token-that-is-none' }, credentials),
    await ask(forItself, basic(client.clientId, 'a-secret-that-is-wrong')),
    await ask({ grant_type: '\0' }, credentials),
  ];
  const em = server.db.em.fork();
  await em.execute('alter table oauth_records rename to planted_elsewhere');
  answers.push(await ask(forItself, credentials));
  await em.execute('alter table planted_elsewhere rename to oauth_records');
  expect(answers.at(-1)?.status).toBe(500);
  for (const answer of answers) {
    const text = await answer.text();
    expect(JSON.parse(text)).toEqual({ error: expect.any(String), error_description: expect.any(String) });
    expect(text).not.toMatch(/oauth_records|planted|select|insert|node_modules|server\/|\bat |that-is|a-secret/);
    expect(text).not.toContain(client.secret);
  }
});

test('callers who never finish their request hold nobody up', async () => {
  const { clientId, secret } = await confidentialClient(server.db, ['orders.manage']);
  const { port, host } = new URL(server.origin);
  const head = [
    'POST /oauth/token HTTP/1.1',
    `Host: ${host}`,
    'Content-Type: application/x-www-form-urlencoded',
    'Content-Length: 100',
    'Expect: 100-continue',
  ];
  const sockets = Array.from({ length: 12 }, () => connect(Number(port), '127.0.0.1'));
  for (const socket of sockets) {
    socket.write(`${head.join('\r\n')}\r\n\r\n`);
    await once(socket, 'data'); // the server waits for the body
  }
  expect((await ask(forItself, basic(clientId, secret))).status).toBe(200);
  for (const socket of sockets) socket.destroy();
});
