import { createHash, randomInt } from 'node:crypto';
import { Secret, TOTP } from 'otpauth';
import type { Em } from '../../database/entity-manager/entity-manager.ts';
import { statement } from '../../database/queries/prepared-statement.ts';
import { seal, unseal } from '../../crypto/authenticated-encryption.ts';

/** One step on either side: the clock of a telephone is seldom exact. */
const window = 1;

const timeStepMs = 30_000;

const totp = (secret: string): TOTP => new TOTP({ secret: Secret.fromBase32(secret), algorithm: 'SHA1', digits: 6, period: 30 });

export const newAppSecret = (): string => new Secret({ size: 20 }).base32;

/** What the picture says to the app. */
export const appAddress = (secret: string, shop: string, email: string): string =>
  new TOTP({ issuer: shop, label: email, secret: Secret.fromBase32(secret), algorithm: 'SHA1', digits: 6, period: 30 }).toString();

/** The step a code belongs to; undefined when it belongs to none that counts now. */
export function stepOf(secret: string, code: string, now: Date): number | undefined {
  const digits = code.replaceAll(/\s/g, '');
  if (!/^[0-9]{6}$/.test(digits)) return undefined; // the library takes other digits for an error
  const app = totp(secret);
  const timestamp = now.getTime();
  const delta = app.validate({ token: digits, timestamp, window });
  return delta === null ? undefined : app.counter({ timestamp }) + delta;
}

const label = (userId: number): string => `authenticator app of ${userId}`;

const findApp = statement<{ sealed_secret: string; added_at: string; last_step: number }>(
  'read_authenticator_app',
  'select sealed_secret, added_at, last_step from authenticator_apps where user_id = $1',
);
/** Since when somebody has one; undefined without. */
export async function appSince(em: Em, userId: number): Promise<Date | undefined> {
  const [app] = await findApp(em, [userId]);
  return app && new Date(app.added_at);
}

/** When the user's authenticator app was set up, and the time step of its last accepted code; undefined without an app. */
export async function findAuthenticatorApp(em: Em, userId: number): Promise<{ addedAt: Date; lastUsedAt: Date } | undefined> {
  const [app] = await findApp(em, [userId]);
  return app && { addedAt: new Date(app.added_at), lastUsedAt: new Date(app.last_step * timeStepMs) };
}

const putApp = statement(
  'put_authenticator_app',
  `insert into authenticator_apps (user_id, sealed_secret, last_step, added_at) values ($1, $2, $3, $4)
   on conflict (user_id) do update set sealed_secret = excluded.sealed_secret, last_step = excluded.last_step, added_at = excluded.added_at`,
);
export async function keepApp(em: Em, key: Buffer, userId: number, secret: string, step: number, now: Date): Promise<void> {
  await putApp(em, [userId, seal(secret, key, label(userId)), step, now]);
}

const removeApp = statement('remove_authenticator_app', 'delete from authenticator_apps where user_id = $1');
const removeCodes = statement('remove_recovery_codes', 'delete from recovery_codes where user_id = $1');
export async function forgetApp(em: Em, userId: number): Promise<void> {
  await removeApp(em, [userId]);
  await removeCodes(em, [userId]);
}

// Of two requests with one code the second finds the step taken.
const takeStep = statement<{ user_id: number }>(
  'take_totp_step',
  'update authenticator_apps set last_step = $2 where user_id = $1 and last_step < $2 returning user_id',
);
const takeRecoveryCode = statement<{ hash: string }>(
  'take_recovery_code',
  'delete from recovery_codes where user_id = $1 and hash = $2 returning hash',
);

/** Takes a code of the app, or a recovery code; neither is good twice. Undefined when it is none of them. */
export async function takeCode(em: Em, key: Buffer, userId: number, code: string, now: Date): Promise<'app' | 'recovery code' | undefined> {
  const [app] = await findApp(em, [userId]);
  if (!app) return undefined;
  const secret = unseal(app.sealed_secret, key, label(userId));
  if (secret === undefined) throw new Error('the authenticator apps in the database belong to another secret');
  const step = stepOf(secret, code, now);
  if (step !== undefined) return (await takeStep(em, [userId, step])).length > 0 ? 'app' : undefined;
  const taken = await takeRecoveryCode(em, [userId, hashRecoveryCode(code)]);
  return taken.length > 0 ? 'recovery code' : undefined;
}

const recoveryCodeCount = 10;
/** Without what is read as something else. */
const letters = 'abcdefghjkmnpqrstuvwxyz23456789';

/** Fifty random bits, in two groups. */
export const newRecoveryCode = (): string => `${fiveLetters()}-${fiveLetters()}`;

const fiveLetters = (): string => Array.from({ length: 5 }, () => letters[randomInt(letters.length)]).join('');

const hashRecoveryCode = (code: string): string =>
  createHash('sha256')
    .update(code.toLowerCase().replaceAll(/[^a-z0-9]/g, ''))
    .digest('base64url');

const insertCodes = statement(
  'insert_recovery_codes',
  'insert into recovery_codes (user_id, hash) select $1, hash from unnest($2::text[]) as made (hash)',
);
/** In the place of those there were. What is kept is their hashes. */
export async function newRecoveryCodes(em: Em, userId: number): Promise<string[]> {
  const codes = Array.from({ length: recoveryCodeCount }, newRecoveryCode);
  await removeCodes(em, [userId]);
  await insertCodes(em, [userId, codes.map(hashRecoveryCode)]);
  return codes;
}

const countCodes = statement<{ count: number }>('count_recovery_codes', 'select count(*) as count from recovery_codes where user_id = $1');
export const recoveryCodesLeft = async (em: Em, userId: number): Promise<number> => (await countCodes(em, [userId]))[0]?.count ?? 0;
