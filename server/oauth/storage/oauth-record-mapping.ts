import { createHash } from 'node:crypto';
import type { AdapterPayload } from 'oidc-provider';

/** A record of `oauth_records`, as it is written. */
export type Row = {
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

/** Their identifiers open something, so only a hash is kept: a copy of the table holds no code, token or session that works. */
const secrets = new Set([
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
/** The record that keeps the sealed response to the last refresh of a grant until the grace period ends. Its identifier is the grant's. */
export const refreshResponseModel = 'RefreshTokenResponse';
export const ofAGrant = new Set(['AccessToken', 'AuthorizationCode', 'DeviceCode', 'RefreshToken', refreshResponseModel]);

const hashed = 'h.';

/** The key of a record whose identifier is a secret. */
export const recordKey = (secret: string): string => hashed + createHash('sha256').update(secret).digest('base64url');

export const isRecordKey = (id: string): boolean => id.startsWith(hashed);

/** What a record is looked up by when somebody presents its identifier: never the key itself, or whoever reads one in a copy of the table could present it. */
export const keyOfPresented = (model: string, id: string): string => (secrets.has(model) ? recordKey(id) : id);

/** The same where the identifier may be a key already, because the record was found by its user code or uid and goes by its key from then on. */
export const keyOfFound = (model: string, id: string): string => (isRecordKey(id) ? id : keyOfPresented(model, id));

export function toRow(model: string, id: string, payload: AdapterPayload, expiresIn: number | undefined): Row {
  return {
    model,
    id: keyOfFound(model, id),
    payload: JSON.stringify(conceal(model, id, payload)),
    grant_id: ofAGrant.has(model) ? (payload.grantId ?? null) : null,
    user_code: payload.userCode === undefined ? null : recordKey(payload.userCode),
    uid: model === 'Session' ? (payload.uid ?? null) : null,
    account_id: payload.accountId ?? null,
    client_id: payload.clientId ?? null,
    expires_at: expiresIn === undefined ? null : new Date(Date.now() + expiresIn * 1000),
    consumed_at: null,
  };
}

/** What is written: without the identifier, and without the places where an interaction repeats an identifier that works. */
function conceal(model: string, id: string, { jti: _id, consumed: _column, userCode: _other, ...payload }: AdapterPayload): AdapterPayload {
  if (model !== 'Interaction') return payload;
  const { session, returnTo, ...rest } = payload;
  const parJti = rest['parJti'];
  return {
    ...rest,
    ...(typeof parJti === 'string' && !isRecordKey(parJti) && { parJti: recordKey(parJti) }),
    ...(session && { session: { ...session, cookie: '' } }),
    ...(returnTo?.endsWith(id) && { returnTo: returnTo.slice(0, -id.length) }),
  };
}

/** The payload of a record that was found; `presented` is the identifier it was asked for by. */
export function toPayload({ model, id, payload, expires_at, consumed_at }: Stored, presented: string | undefined): AdapterPayload {
  const stored: unknown = JSON.parse(payload);
  if (!isPayload(stored)) throw new TypeError('a record is not an object');
  return {
    ...(model === 'Interaction' && stored.returnTo !== undefined && presented !== undefined
      ? { ...stored, returnTo: stored.returnTo + presented }
      : stored),
    jti: presented ?? id,
    // a spent code is kept for longer than it was good for: that it is spent has to be seen, not that it is old
    ...(consumed_at !== null && { consumed: epochSeconds(consumed_at), exp: expires_at === null ? undefined : epochSeconds(expires_at) }),
  };
}

export type Stored = Pick<Row, 'model' | 'id' | 'payload' | 'expires_at' | 'consumed_at'>;
const isPayload = (value: unknown): value is AdapterPayload => typeof value === 'object' && value !== null;

const epochSeconds = (moment: Date | string): number => Math.floor(new Date(moment).getTime() / 1000);
