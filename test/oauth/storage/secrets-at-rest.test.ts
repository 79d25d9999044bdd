import { idTokenSigningAlgorithms } from '@mandate/contract';
import { expect, test } from 'vitest';
import { createCacheWithLoadedOrNewSigningKeys } from '../../../server/oauth/signing-keys/rotating-signing-key-cache.ts';
import { dumpDatabase } from '../../support/services/database-dump.ts';
import { startMandateServer } from '../../support/server/start-mandate.ts';
import { useServer } from '../../support/server/use-server.ts';
import { createMigratedDatabase } from '../../support/services/database.ts';
import {
  buildAuthorizationRequest,
  obtainAuthorizationCode,
  authorizationPath,
  obtainClientToken,
  createConfidentialClient,
  redeemCode,
  sendRefreshRequest,
  readOAuthError,
  signIn,
  signUp,
  tokenResponseSchema,
} from '../../support/oauth/oauth-flow.ts';

const server = useServer();

test('neither the database nor the log contains a usable code, token, session, secret or password (95)', async () => {
  const anna = await signUp(server.origin);
  const pending = await anna.browser.open(authorizationPath(buildAuthorizationRequest().query));
  const unused = await obtainAuthorizationCode(server.origin, anna);
  const used = await obtainAuthorizationCode(server.origin, anna);
  const tokens = tokenResponseSchema.parse(await (await redeemCode(server.origin, used)).json());
  const renewed = tokenResponseSchema.parse(await (await sendRefreshRequest(server.origin, tokens.refresh_token ?? '')).json());
  const client = await createConfidentialClient(server.db, ['users.manage']);
  const clientToken = await obtainClientToken(server.origin, client, ['users.manage']);
  const otherBrowser = await signIn(server.origin, anna);
  const secrets = {
    password: anna.password,
    code: unused.code,
    usedCode: used.code,
    session: anna.browser.cookieValue('mandate_session'),
    otherSession: otherBrowser.cookieValue('mandate_session'),
    interaction: pending.url.pathname.split('/').at(-1),
    clientSecret: client.secret,
    ...Object.fromEntries(
      [tokens, renewed].flatMap((one, at) => [
        [`access${at}`, one.access_token],
        [`refresh${at}`, one.refresh_token],
      ]),
    ),
    clientToken,
  };
  const [stored, logged] = [await dumpDatabase(server.db), server.warnings.join('\n')];
  expect(stored).toContain(anna.email); // the dump contains the user's data
  for (const [name, secret] of Object.entries(secrets)) {
    expect(secret, name).toMatch(/^.{20,}$/);
    expect(stored.includes(secret ?? ''), `${name} in the database`).toBe(false);
    expect(logged.includes(secret ?? ''), `${name} in the log`).toBe(false);
  }
});

test('closing a test server reports every kind of secret that is stored in plain text (95)', async () => {
  const mandate = await startMandateServer();
  const anna = await signUp(mandate.origin);
  const granted = await obtainAuthorizationCode(mandate.origin, anna, { scope: 'openid users.read' });
  const tokens = tokenResponseSchema.parse(await (await redeemCode(mandate.origin, granted)).json());
  const client = await createConfidentialClient(mandate.db, ['users.manage']);
  await obtainClientToken(mandate.origin, client, ['users.manage']);
  const storedSecrets = {
    'sent password': anna.password,
    'redirect code': granted.code,
    'response access_token': tokens.access_token,
    'response refresh_token': tokens.refresh_token ?? '',
    'response id_token': tokens.id_token ?? '',
    'cookie mandate_session': anna.browser.cookieValue('mandate_session') ?? '',
    Basic: client.secret,
  };
  const em = mandate.db.em.fork();
  for (const secret of Object.values(storedSecrets))
    await em.execute(`insert into oauth_records (model, id, payload) values ('Planted', ?, '{}')`, [`${Math.random()} ${secret}`]);
  const reportedSecrets = await mandate.close().then(
    () => 'none',
    (error: unknown) => String(error),
  );
  for (const [description, secret] of Object.entries(storedSecrets)) expect(reportedSecrets, description).toContain(secret);
});

test('the stored record IDs of codes and refresh tokens are not accepted', async () => {
  const anna = await signUp(server.origin);
  const granted = await obtainAuthorizationCode(server.origin, anna);
  await redeemCode(server.origin, await obtainAuthorizationCode(server.origin, anna));
  const rows = await server.db.em
    .fork()
    .execute<{ model: string; id: string }[]>('select model, id from oauth_records order by expires_at desc');
  const storedId = (model: string): string => rows.find((row) => row.model === model)?.id ?? '';
  expect(await readOAuthError(await redeemCode(server.origin, { ...granted, code: storedId('AuthorizationCode') }))).toBe(
    '400 invalid_grant',
  );
  expect(await readOAuthError(await sendRefreshRequest(server.origin, storedId('RefreshToken')))).toBe('400 invalid_grant');
});

test('the private keys are encrypted and can be decrypted only with the right secret', async () => {
  const [row] = await server.db.em.fork().execute<{ sealed: string }[]>('select encrypted_jwk as sealed from signing_keys limit 1');
  expect(Buffer.from(row?.sealed ?? '', 'base64url').toString('latin1')).not.toMatch(/"(d|kty)":/);
  await expect(createCacheWithLoadedOrNewSigningKeys(server.db.em, Buffer.alloc(32))).rejects.toThrow('encrypted with another secret');
});

test('processes that start concurrently on one database use the same keys', async () => {
  const db = await createMigratedDatabase();
  const keySets = await Promise.all([1, 2, 3].map(() => createCacheWithLoadedOrNewSigningKeys(db.em, Buffer.alloc(32))));
  const currentKeys = await Promise.all(keySets.map((keys) => keys.current()));
  const kids = currentKeys.map(({ keys }) => keys.map(({ kid }) => kid).join());
  await db.close();
  expect(kids[0]?.split(',')).toEqual(idTokenSigningAlgorithms.map(() => expect.stringMatching(/^[\w-]{43}$/)));
  expect(new Set(kids).size).toBe(1);
});
