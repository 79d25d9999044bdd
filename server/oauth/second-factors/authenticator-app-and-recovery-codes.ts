import { randomInt } from 'node:crypto';
import { Secret, TOTP } from 'otpauth';
import type { EntityManager } from '../../database/entity-manager/entity-manager.ts';
import { prepareStatement } from '../../database/queries/prepared-statement.ts';
import { encryptText, decryptText } from '../../crypto/authenticated-encryption.ts';
import { hashTypedCode } from '../../crypto/hash-typed-code.ts';

/** Accepted deviation in time steps, in either direction, because phone clocks are rarely exact. */
const window = 1;

const timeStepMs = 30_000;

const totp = (secret: string): TOTP => new TOTP({ secret: Secret.fromBase32(secret), algorithm: 'SHA1', digits: 6, period: 30 });

export const generateTotpSecret = (): string => new Secret({ size: 20 }).base32;

/** Returns the `otpauth:` URI that the QR code encodes. */
export const totpUri = (secret: string, shop: string, email: string): string =>
  new TOTP({ issuer: shop, label: email, secret: Secret.fromBase32(secret), algorithm: 'SHA1', digits: 6, period: 30 }).toString();

/** Returns the time step to which the code belongs, or undefined if the code is not currently valid. */
export function matchTotpTimeStep(secret: string, code: string, now: Date): number | undefined {
  const digits = code.replaceAll(/\s/g, '');
  if (!/^[0-9]{6}$/.test(digits)) return undefined; // the library throws for anything but six digits
  const app = totp(secret);
  const timestamp = now.getTime();
  const delta = app.validate({ token: digits, timestamp, window });
  return delta === null ? undefined : app.counter({ timestamp }) + delta;
}

const encryptionContext = (userId: number): string => `authenticator app of ${userId}`;

const findApp = prepareStatement<{ sealed_secret: string; added_at: string; last_step: number }>(
  'read_authenticator_app',
  'select sealed_secret, added_at, last_step from authenticator_apps where user_id = $1',
);

/** Returns when the user added an authenticator app, or undefined if the user has no app. */
export async function findAuthenticatorAppAddedAt(em: EntityManager, userId: number): Promise<Date | undefined> {
  const [app] = await findApp(em, [userId]);
  return app && new Date(app.added_at);
}

/** Returns when the user's authenticator app was added, and the time step of its last accepted code; undefined if the user has no app. */
export async function findAuthenticatorAppTimestamps(
  em: EntityManager,
  userId: number,
): Promise<{ addedAt: Date; lastUsedAt: Date } | undefined> {
  const [app] = await findApp(em, [userId]);
  return app && { addedAt: new Date(app.added_at), lastUsedAt: new Date(app.last_step * timeStepMs) };
}

const upsertApp = prepareStatement(
  'upsert_authenticator_app',
  `insert into authenticator_apps (user_id, sealed_secret, last_step, added_at) values ($1, $2, $3, $4)
   on conflict (user_id) do update set sealed_secret = excluded.sealed_secret, last_step = excluded.last_step, added_at = excluded.added_at`,
);

/** Stores an authenticator app's encrypted secret, replacing the user's existing app. */
export async function saveAuthenticatorApp(
  em: EntityManager,
  key: Buffer,
  userId: number,
  secret: string,
  step: number,
  now: Date,
): Promise<void> {
  await upsertApp(em, [userId, encryptText(secret, key, encryptionContext(userId)), step, now]);
}

const deleteApp = prepareStatement('delete_authenticator_app', 'delete from authenticator_apps where user_id = $1');
const deleteRecoveryCodes = prepareStatement('delete_recovery_codes', 'delete from recovery_codes where user_id = $1');

/** Deletes a user's authenticator app and recovery codes. */
export async function deleteAuthenticatorApp(em: EntityManager, userId: number): Promise<void> {
  await deleteApp(em, [userId]);
  await deleteRecoveryCodes(em, [userId]);
}

// If two requests send the same code, the second one updates no row.
const advanceTimeStep = prepareStatement<{ user_id: number }>(
  'consume_totp_time_step',
  'update authenticator_apps set last_step = $2 where user_id = $1 and last_step < $2 returning user_id',
);
const deleteRecoveryCode = prepareStatement<{ hash: string }>(
  'consume_recovery_code',
  'delete from recovery_codes where user_id = $1 and hash = $2 returning hash',
);

/**
 * Consumes an authenticator app code or a recovery code, and returns which kind it was. Returns undefined if the code is invalid or already
 * used.
 */
export async function consumeSecondFactorCode(
  em: EntityManager,
  key: Buffer,
  userId: number,
  code: string,
  now: Date,
): Promise<'app' | 'recovery code' | undefined> {
  const [app] = await findApp(em, [userId]);
  if (!app) return undefined;
  const secret = decryptText(app.sealed_secret, key, encryptionContext(userId));
  if (secret === undefined) throw new Error('the authenticator apps in the database are encrypted with another secret');
  const step = matchTotpTimeStep(secret, code, now);
  if (step !== undefined) return (await advanceTimeStep(em, [userId, step])).length > 0 ? 'app' : undefined;
  const deleted = await deleteRecoveryCode(em, [userId, hashTypedCode(code)]);
  return deleted.length > 0 ? 'recovery code' : undefined;
}

const recoveryCodeCount = 10;
/** Excludes characters that are easily confused. */
const alphabet = 'abcdefghjkmnpqrstuvwxyz23456789';

/** Generates a code of about 50 random bits, in two groups of five characters. */
export const generateRecoveryCode = (): string => `${randomGroup()}-${randomGroup()}`;

const randomGroup = (): string => Array.from({ length: 5 }, () => alphabet[randomInt(alphabet.length)]).join('');

const insertCodes = prepareStatement(
  'insert_recovery_codes',
  'insert into recovery_codes (user_id, hash) select $1, hash from unnest($2::text[]) as made (hash)',
);

/** Generates new recovery codes, which replace all existing ones. Only their hashes are stored. */
export async function replaceRecoveryCodes(em: EntityManager, userId: number): Promise<string[]> {
  const codes = Array.from({ length: recoveryCodeCount }, generateRecoveryCode);
  await deleteRecoveryCodes(em, [userId]);
  await insertCodes(em, [userId, codes.map(hashTypedCode)]);
  return codes;
}

const countRows = prepareStatement<{ count: number }>(
  'count_recovery_codes',
  'select count(*) as count from recovery_codes where user_id = $1',
);
export const countRecoveryCodes = async (em: EntityManager, userId: number): Promise<number> =>
  (await countRows(em, [userId]))[0]?.count ?? 0;
