import type { AdapterPayload } from 'oidc-provider';
import { expect, test } from 'vitest';
import { sha256 } from '../../../server/crypto/sha256.ts';
import {
  adapterPayloadFromOauthRecord,
  oauthRecordFromAdapterPayload,
  storageIdFromClientProvidedId,
  storageIdFromPlainOrHashedId,
} from '../../../server/oauth/storage/oauth-record-mapping.ts';

const hashed = (secret: string): string => `h.${sha256(secret, 'base64url')}`;
const secretModels =
  'AccessToken AuthorizationCode ClientCredentials DeviceCode InitialAccessToken Interaction PushedAuthorizationRequest RefreshToken Session'.split(
    ' ',
  );

test.each(secretModels)('the identifier of a record of the model %s is stored only as its hash', (model) => {
  const record = oauthRecordFromAdapterPayload(model, 'secret', { jti: 'secret', kind: model }, 60);
  expect([record.id, record.payload]).toEqual([hashed('secret'), JSON.stringify({ kind: model })]);
  expect([storageIdFromClientProvidedId(model, hashed('secret')), storageIdFromPlainOrHashedId(model, hashed('secret'))]).toEqual([
    hashed(hashed('secret')),
    hashed('secret'),
  ]);
});

test('the identifier of a grant is stored unchanged', () => {
  expect(storageIdFromClientProvidedId('Grant', 'grant-1')).toBe('grant-1');
});

test('a new record has only the columns by which records are found', () => {
  const payload = { jti: 'secret', uid: 'uid', grantId: 'grant-1', accountId: '7', clientId: 'app-1', userCode: 'ABCD-EFGH', consumed: 1 };
  const columns = { userCode: hashed('ABCD-EFGH'), accountId: '7', clientId: 'app-1' };
  expect(oauthRecordFromAdapterPayload('DeviceCode', 'secret', payload, undefined)).toEqual({
    ...columns,
    model: 'DeviceCode',
    id: hashed('secret'),
    payload: JSON.stringify({ uid: 'uid', grantId: 'grant-1', accountId: '7', clientId: 'app-1' }),
    grantId: 'grant-1',
    uid: null,
    expiresAt: null,
  });
  // a session refers to the grants of its applications, but its row has no grant ID
  expect(oauthRecordFromAdapterPayload('Session', 'secret', payload, undefined)).toMatchObject({ ...columns, grantId: null, uid: 'uid' });
  const empty = { userCode: null, grantId: null, uid: null, accountId: null, clientId: null };
  for (const model of ['Session', 'RefreshToken', 'Grant'])
    expect(oauthRecordFromAdapterPayload(model, 'id', {}, undefined)).toMatchObject(empty);
});

test.each(['AccessToken', 'AuthorizationCode', 'DeviceCode', 'RefreshToken', 'RefreshTokenResponse'])(
  'a record of the model %s belongs to a grant',
  (model) => {
    expect(oauthRecordFromAdapterPayload(model, 'id', { grantId: 'grant-1' }, undefined).grantId).toBe('grant-1');
  },
);

test('a record expires after its lifetime in seconds', () => {
  const before = Date.now();
  const { expiresAt } = oauthRecordFromAdapterPayload('Session', 'id', {}, 60);
  expect((expiresAt?.getTime() ?? 0) - before).toBeGreaterThanOrEqual(60_000);
  expect((expiresAt?.getTime() ?? 0) - Date.now()).toBeLessThanOrEqual(60_000);
});

test('the payload of an interaction contains no identifier of a session, a pushed request or the interaction', () => {
  const stored = (payload: AdapterPayload): unknown =>
    JSON.parse(oauthRecordFromAdapterPayload('Interaction', 'secret', payload, 60).payload);
  const session = { accountId: '7', cookie: 'session secret', uid: 'uid' };
  expect(
    stored({
      session,
      returnTo: 'https://shop.example/oauth/authorization/secret',
      parJti: 'request',
      lastSubmission: { login: { accountId: '7' } },
    }),
  ).toEqual({
    session: { accountId: '7', cookie: '', uid: 'uid' },
    returnTo: 'https://shop.example/oauth/authorization/',
    parJti: hashed('request'),
    lastSubmission: { login: { accountId: '7' } },
  });
  expect(stored({ parJti: hashed('request'), returnTo: 'https://shop.example/' })).toEqual({ parJti: hashed('request') });
  expect(stored({})).toEqual({});
});

test('a stored interaction is restored with the identifier that the browser presents', () => {
  const record = { model: 'Interaction', id: hashed('secret'), payload: JSON.stringify({ returnTo: 'https://shop.example/' }) };
  expect(adapterPayloadFromOauthRecord(record, 'secret')).toEqual({ returnTo: 'https://shop.example/secret', jti: 'secret' });
  expect(adapterPayloadFromOauthRecord(record, undefined)).toEqual({ returnTo: 'https://shop.example/', jti: hashed('secret') });
  expect(adapterPayloadFromOauthRecord({ ...record, payload: '{}' }, 'secret')).toEqual({ jti: 'secret' });
  const session = { ...record, model: 'Session' };
  expect(adapterPayloadFromOauthRecord(session, 'secret')).toEqual({ returnTo: 'https://shop.example/', jti: 'secret' });
});

test('a consumed record contains the times of its use and its expiry, in whole seconds', () => {
  const record = { model: 'AuthorizationCode', id: 'h.1', payload: '{"exp":1}' };
  const consumedAt = new Date(5_999);
  expect(adapterPayloadFromOauthRecord({ ...record, consumedAt, expiresAt: '1970-01-01T00:01:00.5Z' }, 'code')).toEqual({
    jti: 'code',
    consumed: 5,
    exp: 60,
  });
  expect(adapterPayloadFromOauthRecord({ ...record, consumedAt, expiresAt: null }, 'code')).toEqual({
    jti: 'code',
    consumed: 5,
    exp: undefined,
  });
  expect(adapterPayloadFromOauthRecord({ ...record, consumedAt: null, expiresAt: new Date(60_000) }, 'code')).toEqual({
    jti: 'code',
    exp: 1,
  });
});

test.each(['null', '7', '"text"'])('a record whose payload is %s is an error', (payload) => {
  expect(() => adapterPayloadFromOauthRecord({ model: 'Session', id: 'h.1', payload }, undefined)).toThrow(
    'the payload of the record is not an object',
  );
});
