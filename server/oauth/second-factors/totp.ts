import { createHash, randomInt } from 'node:crypto';
import { Secret, TOTP } from 'otpauth';
import type { Em } from '../../database/entity-manager/entity-manager.ts';
import { statement } from '../../database/queries/prepared-statement.ts';
import { seal, unseal } from '../../crypto/authenticated-encryption.ts';

/** Accepted deviation in time steps, in either direction, because phone clocks are rarely exact. */
const window = 1;

const timeStepMs = 30_000;

const totp = (secret: string): TOTP => new TOTP({ secret: Secret.fromBase32(secret), algorithm: 'SHA1', digits: 6, period: 30 });

export const newAppSecret = (): string => new Secret({ size: 20 }).base32;

/** Returns the `otpauth:` URI that the QR code encodes. */
export const appAddress = (secret: string, shop: string, email: string): string =>
  new TOTP({ issuer: shop, label: email, secret: Secret.fromBase32(secret), algorithm: 'SHA1', digits: 6, period: 30 }).toString();

/** Returns the time step that the code belongs to, or undefined if it is not valid now. */
export function stepOf(secret: string, code: string, now: Date): number | undefined {
  const digits = code.replaceAll(/\s/g, '');
  if (!/^[0-9]{6}$/.test(digits)) return undefined; // the library throws for anything but six digits
  const app = totp(secret);
  const timestamp = now.getTime();
  const delta = app.validate({ token: digits, timestamp, window });
  return delta === null ? undefined : app.counter({ timestamp }) + delta;
}

const encryptionContext = (userId: number): string => `authenticator app of ${userId}`;

const findApp = statement<{ sealed_secret: string; added_at: string; last_step: number }>(
  'read_authenticator_app',
  'select sealed_secret, added_at, last_step from authenticator_apps where user_id = $1',
);

/** Returns when the user added an authenticator app, or undefined without one. */
export async function appSince(em: Em, userId: number): Promise<Date | undefined> {
  const [app] = await findApp(em, [userId]);
  return app && new Date(app.added_at);
}

/** Returns when the user's authenticator app was added, and the time step of its last accepted code; undefined without an app. */
export async function findAuthenticatorApp(em: Em, userId: number): Promise<{ addedAt: Date; lastUsedAt: Date } | undefined> {
  const [app] = await findApp(em, [userId]);
  return app && { addedAt: new Date(app.added_at), lastUsedAt: new Date(app.last_step * timeStepMs) };
}

const upsertApp = statement(
  'put_authenticator_app',
  `insert into authenticator_apps (user_id, sealed_secret, last_step, added_at) values ($1, $2, $3, $4)
   on conflict (user_id) do update set sealed_secret = excluded.sealed_secret, last_step = excluded.last_step, added_at = excluded.added_at`,
);

/** Stores the encrypted secret of an authenticator app. It replaces an existing app of the user. */
export async function keepApp(em: Em, key: Buffer, userId: number, secret: string, step: number, now: Date): Promise<void> {
  await upsertApp(em, [userId, seal(secret, key, encryptionContext(userId)), step, now]);
}

const deleteApp = statement('remove_authenticator_app', 'delete from authenticator_apps where user_id = $1');
const deleteRecoveryCodes = statement('remove_recovery_codes', 'delete from recovery_codes where user_id = $1');

/** Deletes the authenticator app and the recovery codes of a user. */
export async function forgetApp(em: Em, userId: number): Promise<void> {
  await deleteApp(em, [userId]);
  await deleteRecoveryCodes(em, [userId]);
}

// If two requests send the same code, the second one updates no row.
const advanceTimeStep = statement<{ user_id: number }>(
  'take_totp_step',
  'update authenticator_apps set last_step = $2 where user_id = $1 and last_step < $2 returning user_id',
);
const deleteRecoveryCode = statement<{ hash: string }>(
  'take_recovery_code',
  'delete from recovery_codes where user_id = $1 and hash = $2 returning hash',
);

/** Consumes a code of the authenticator app or a recovery code, and returns which it was. Returns undefined if it is invalid or already used. */
export async function takeCode(em: Em, key: Buffer, userId: number, code: string, now: Date): Promise<'app' | 'recovery code' | undefined> {
  const [app] = await findApp(em, [userId]);
  if (!app) return undefined;
  const secret = unseal(app.sealed_secret, key, encryptionContext(userId));
  if (secret === undefined) throw new Error('the authenticator apps in the database are encrypted with another secret');
  const step = stepOf(secret, code, now);
  if (step !== undefined) return (await advanceTimeStep(em, [userId, step])).length > 0 ? 'app' : undefined;
  const deleted = await deleteRecoveryCode(em, [userId, hashRecoveryCode(code)]);
  return deleted.length > 0 ? 'recovery code' : undefined;
}

const recoveryCodeCount = 10;
/** Excludes characters that are easily confused. */
const alphabet = 'abcdefghjkmnpqrstuvwxyz23456789';

/** Generates a code of about 50 random bits, in two groups of five characters. */
export const newRecoveryCode = (): string => `${randomGroup()}-${randomGroup()}`;

const randomGroup = (): string => Array.from({ length: 5 }, () => alphabet[randomInt(alphabet.length)]).join('');

const hashRecoveryCode = (code: string): string =>
  createHash('sha256')
    .update(code.toLowerCase().replaceAll(/[^a-z0-9]/g, ''))
    .digest('base64url');

const insertCodes = statement(
  'insert_recovery_codes',
  'insert into recovery_codes (user_id, hash) select $1, hash from unnest($2::text[]) as made (hash)',
);

/** Generates new recovery codes, which replace all existing ones. Only their hashes are stored. */
export async function newRecoveryCodes(em: Em, userId: number): Promise<string[]> {
  const codes = Array.from({ length: recoveryCodeCount }, newRecoveryCode);
  await deleteRecoveryCodes(em, [userId]);
  await insertCodes(em, [userId, codes.map(hashRecoveryCode)]);
  return codes;
}

const countRows = statement<{ count: number }>('count_recovery_codes', 'select count(*) as count from recovery_codes where user_id = $1');
export const recoveryCodesLeft = async (em: Em, userId: number): Promise<number> => (await countRows(em, [userId]))[0]?.count ?? 0;
