import type { AdapterPayload } from 'oidc-provider';
import { sha256 } from '../../crypto/sha256.ts';

/** A row in the `oauth_records` table. */
export type OauthRecordRow = {
  model: string;
  id: string;
  payload: string;
  grant_id: string | null;
  user_code: string | null;
  uid: string | null;
  account_id: string | null;
  client_id: string | null;
  expires_at: Date | string | null;
  consumed_at: Date | string | null;
};

/**
 * Models whose identifier is a secret. Only the hash of the identifier is stored, so that a copy of the table contains no valid code, token
 * or session.
 */
const hashedModels = new Set([
  'AccessToken',
  'AuthorizationCode',
  'ClientCredentials',
  'DeviceCode',
  'InitialAccessToken',
  'Interaction',
  'PushedAuthorizationRequest',
  'RefreshToken',
  'Session',
]);
/**
 * Model of the record that stores the encrypted response to a grant's most recent refresh during the grace period. The record's ID is the
 * grant ID.
 */
export const refreshResponseRecordModel = 'RefreshTokenResponse';
/** Models whose records belong to a grant. */
export const grantRecordModels = new Set(['AccessToken', 'AuthorizationCode', 'DeviceCode', 'RefreshToken', refreshResponseRecordModel]);

const hashPrefix = 'h.';

/** Returns the storage ID of a record whose identifier is a secret. */
export const hashRecordId = (secret: string): string => hashPrefix + sha256(secret, 'base64url');

export const isHashedRecordId = (id: string): boolean => id.startsWith(hashPrefix);

/**
 * Returns the storage ID for an identifier that a client presents. Secret identifiers are always hashed, so that a hash from a copy of the
 * table cannot be presented instead of the identifier.
 */
export const storageIdFromPresentedId = (model: string, id: string): string => (hashedModels.has(model) ? hashRecordId(id) : id);

/** Returns the storage ID for an identifier that may already be hashed, because the record was found by its user code or uid. */
export const storageIdFromIdOrHash = (model: string, id: string): string =>
  isHashedRecordId(id) ? id : storageIdFromPresentedId(model, id);

export function oauthRecordRowFromAdapterPayload(
  model: string,
  id: string,
  payload: AdapterPayload,
  expiresIn: number | undefined,
): OauthRecordRow {
  return {
    model,
    id: storageIdFromIdOrHash(model, id),
    payload: JSON.stringify(redactPayload(model, id, payload)),
    grant_id: grantRecordModels.has(model) ? (payload.grantId ?? null) : null,
    user_code: payload.userCode === undefined ? null : hashRecordId(payload.userCode),
    uid: model === 'Session' ? (payload.uid ?? null) : null,
    account_id: payload.accountId ?? null,
    client_id: payload.clientId ?? null,
    expires_at: expiresIn === undefined ? null : new Date(Date.now() + expiresIn * 1000),
    consumed_at: null,
  };
}

/** Removes the identifier from the payload, and all valid identifiers from an interaction's payload. */
function redactPayload(
  model: string,
  id: string,
  { jti: _id, consumed: _column, userCode: _other, ...payload }: AdapterPayload,
): AdapterPayload {
  if (model !== 'Interaction') return payload;
  const { session, returnTo, ...rest } = payload;
  const parJti = rest['parJti'];
  return {
    ...rest,
    ...(typeof parJti === 'string' && !isHashedRecordId(parJti) && { parJti: hashRecordId(parJti) }),
    ...(session && { session: { ...session, cookie: '' } }),
    ...(returnTo?.endsWith(id) && { returnTo: returnTo.slice(0, -id.length) }),
  };
}

/** Restores a stored record's payload. `presented` is the identifier by which the record was requested. */
export function adapterPayloadFromOauthRecord(
  { model, id, payload, expires_at, consumed_at }: StoredOauthRecord,
  presented: string | undefined,
): AdapterPayload {
  const stored: unknown = JSON.parse(payload);
  if (!isPayload(stored)) throw new TypeError('the payload of the record is not an object');
  return {
    ...(model === 'Interaction' && stored.returnTo !== undefined && presented !== undefined
      ? { ...stored, returnTo: stored.returnTo + presented }
      : stored),
    jti: presented ?? id,
    // a consumed code is stored beyond its lifetime: oidc-provider must see that the code is consumed, not that it has expired
    ...(consumed_at !== null && { consumed: epochSeconds(consumed_at), exp: expires_at === null ? undefined : epochSeconds(expires_at) }),
  };
}

export type StoredOauthRecord = Pick<OauthRecordRow, 'model' | 'id' | 'payload' | 'expires_at' | 'consumed_at'>;
const isPayload = (value: unknown): value is AdapterPayload => typeof value === 'object' && value !== null;

const epochSeconds = (time: Date | string): number => Math.floor(new Date(time).getTime() / 1000);
