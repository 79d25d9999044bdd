import type { AdapterPayload } from 'oidc-provider';
import { sha256 } from '../../crypto/sha256.ts';

/** The fields of an `OauthRecord` that are written when the record is created. */
export type NewOauthRecord = {
  readonly model: string;
  readonly id: string;
  readonly payload: string;
  readonly grantId: string | null;
  readonly userCode: string | null;
  readonly uid: string | null;
  readonly accountId: string | null;
  readonly clientId: string | null;
  readonly expiresAt: Date | null;
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
export const storedRefreshResponseModelName = 'RefreshTokenResponse';
/** Models whose records belong to a grant. */
export const modelNamesWithGrant = new Set([
  'AccessToken',
  'AuthorizationCode',
  'DeviceCode',
  'RefreshToken',
  storedRefreshResponseModelName,
]);

const hashPrefix = 'h.';

/** Returns the storage ID of a record whose identifier is a secret. */
export const hashSecretRecordId = (secret: string): string => hashPrefix + sha256(secret, 'base64url');

export const hasRecordIdHashPrefix = (id: string): boolean => id.startsWith(hashPrefix);

/**
 * Returns the storage ID for an identifier that a client presents. Secret identifiers are always hashed, so that a hash from a copy of the
 * table cannot be presented instead of the identifier.
 */
export const storageIdFromClientProvidedId = (model: string, id: string): string => (hashedModels.has(model) ? hashSecretRecordId(id) : id);

/** Returns the storage ID for an identifier that may already be hashed, because the record was found by its user code or uid. */
export const storageIdFromPlainOrHashedId = (model: string, id: string): string =>
  hasRecordIdHashPrefix(id) ? id : storageIdFromClientProvidedId(model, id);

export function oauthRecordFromAdapterPayload(
  model: string,
  id: string,
  payload: AdapterPayload,
  expiresIn: number | undefined,
): NewOauthRecord {
  return {
    model,
    id: storageIdFromPlainOrHashedId(model, id),
    payload: JSON.stringify(redactPayload(model, id, payload)),
    grantId: modelNamesWithGrant.has(model) ? (payload.grantId ?? null) : null,
    userCode: payload.userCode === undefined ? null : hashSecretRecordId(payload.userCode),
    uid: model === 'Session' ? (payload.uid ?? null) : null,
    accountId: payload.accountId ?? null,
    clientId: payload.clientId ?? null,
    expiresAt: expiresIn === undefined ? null : new Date(Date.now() + expiresIn * 1000),
  };
}

/** Removes the identifier from the payload. In an interaction's payload, also removes or hashes all other secret identifiers. */
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
    ...(typeof parJti === 'string' && !hasRecordIdHashPrefix(parJti) && { parJti: hashSecretRecordId(parJti) }),
    ...(session && { session: { ...session, cookie: '' } }),
    ...(returnTo?.endsWith(id) && { returnTo: returnTo.slice(0, -id.length) }),
  };
}

/** Restores a stored record's payload. `presented` is the identifier that was used to request the record. */
export function adapterPayloadFromOauthRecord(
  { model, id, payload, expiresAt, consumedAt }: StoredOauthRecord,
  presented: string | undefined,
): AdapterPayload {
  const stored: unknown = JSON.parse(payload);
  if (!isPayload(stored)) throw new TypeError('the payload of the record is not an object');
  return {
    ...(model === 'Interaction' && stored.returnTo !== undefined && presented !== undefined
      ? { ...stored, returnTo: stored.returnTo + presented }
      : stored),
    jti: presented ?? id,
    // A consumed code is stored beyond its lifetime, because oidc-provider must see that the code is consumed, not that it has expired.
    ...(consumedAt != null && { consumed: epochSeconds(consumedAt), exp: expiresAt == null ? undefined : epochSeconds(expiresAt) }),
  };
}

export type StoredOauthRecord = Pick<NewOauthRecord, 'model' | 'id' | 'payload'> & {
  readonly expiresAt?: Date | string | null | undefined;
  readonly consumedAt?: Date | string | null | undefined;
};
const isPayload = (value: unknown): value is AdapterPayload => typeof value === 'object' && value !== null;

const epochSeconds = (time: Date | string): number => Math.floor(new Date(time).getTime() / 1000);
