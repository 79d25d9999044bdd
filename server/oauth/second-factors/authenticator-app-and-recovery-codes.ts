import { randomInt } from 'node:crypto';
import { Secret, TOTP } from 'otpauth';
import type { EntityManager } from '../../database/entity-manager/entity-manager-type.ts';
import { encryptText, decryptText } from '../../crypto/authenticated-encryption.ts';
import { hashCodeTypedByUser } from '../../crypto/hash-typed-code.ts';
import { AuthenticatorApp, RecoveryCode } from './second-factors-and-used-identifiers.entity.ts';

/** Accepted deviation in time steps, in either direction, because phone clocks are rarely exact. */
const window = 1;

const timeStepMs = 30_000;

const totp = (secret: string): TOTP => new TOTP({ secret: Secret.fromBase32(secret), algorithm: 'SHA1', digits: 6, period: 30 });

export const generateTotpSecret = (): string => new Secret({ size: 20 }).base32;

/** Returns the `otpauth:` URI that the QR code encodes. */
export const createTotpUri = (secret: string, shop: string, email: string): string =>
  new TOTP({ issuer: shop, label: email, secret: Secret.fromBase32(secret), algorithm: 'SHA1', digits: 6, period: 30 }).toString();

/** Returns the time step that the code belongs to, or undefined if the code is not currently valid. */
export function matchTotpTimeStep(secret: string, code: string, now: Date): number | undefined {
  const digits = code.replaceAll(/\s/g, '');
  if (!/^[0-9]{6}$/.test(digits)) return undefined; // the library throws an error for any input other than six digits
  const app = totp(secret);
  const timestamp = now.getTime();
  const delta = app.validate({ token: digits, timestamp, window });
  return delta === null ? undefined : app.counter({ timestamp }) + delta;
}

const encryptionContext = (userId: number): string => `authenticator app of ${userId}`;

const findApp = (em: EntityManager, userId: number) => em.findOne(AuthenticatorApp, { user: userId }, { disableIdentityMap: true });

/** Returns the time at which the user added an authenticator app, or undefined if the user has no app. */
export async function findWhenAuthenticatorAppWasAdded(em: EntityManager, userId: number): Promise<Date | undefined> {
  return (await findApp(em, userId))?.addedAt;
}

/** Returns the times at which the user added and last used the authenticator app, or undefined if the user has no app. */
export async function findAuthenticatorAppAddedAndUsedTimes(
  em: EntityManager,
  userId: number,
): Promise<{ addedAt: Date; lastUsedAt: Date } | undefined> {
  const app = await findApp(em, userId);
  if (!app) return undefined;
  // The start of a time step can be up to 30 seconds before the moment in which the app was added.
  const lastUsedAt = new Date(Math.max(app.lastStep * timeStepMs, app.addedAt.getTime()));
  return { addedAt: app.addedAt, lastUsedAt };
}

/** Stores an authenticator app's encrypted secret, replacing the user's existing app. */
export async function saveAuthenticatorApp(
  em: EntityManager,
  key: Buffer,
  userId: number,
  secret: string,
  step: number,
  now: Date,
): Promise<void> {
  const sealedSecret = encryptText(secret, key, encryptionContext(userId));
  await em.upsert(AuthenticatorApp, { user: userId, sealedSecret, lastStep: step, addedAt: now }, { disableIdentityMap: true });
}

/** Deletes a user's authenticator app and recovery codes. */
export async function deleteAuthenticatorAppAndRecoveryCodes(em: EntityManager, userId: number): Promise<void> {
  await em.nativeDelete(AuthenticatorApp, { user: userId });
  await em.nativeDelete(RecoveryCode, { user: userId });
}

/**
 * Consumes an authenticator app code or a recovery code, and returns the kind of code. Returns undefined if the code is invalid or already
 * used.
 */
export async function consumeSecondFactorCode(
  em: EntityManager,
  key: Buffer,
  userId: number,
  code: string,
  now: Date,
): Promise<'app' | 'recovery code' | undefined> {
  const app = await findApp(em, userId);
  if (!app) return undefined;
  const secret = decryptText(app.sealedSecret, key, encryptionContext(userId));
  if (secret === undefined) throw new Error('the authenticator apps in the database are encrypted with another secret');
  const step = matchTotpTimeStep(secret, code, now);
  // If two requests send the same code, the second request does not change any row.
  if (step !== undefined) {
    const advanced = await em.nativeUpdate(AuthenticatorApp, { user: userId, lastStep: { $lt: step } }, { lastStep: step });
    return advanced > 0 ? 'app' : undefined;
  }
  const deleted = await em.nativeDelete(RecoveryCode, { user: userId, hash: hashCodeTypedByUser(code) });
  return deleted > 0 ? 'recovery code' : undefined;
}

const recoveryCodeCount = 10;
/** Recovery code alphabet, without characters that are easily confused. */
const alphabet = 'abcdefghjkmnpqrstuvwxyz23456789';

/** Generates a code with about 50 random bits, in two groups of five characters. */
export const generateRecoveryCode = (): string => `${randomGroup()}-${randomGroup()}`;

const randomGroup = (): string => Array.from({ length: 5 }, () => alphabet[randomInt(alphabet.length)]).join('');

/** Generates new recovery codes, which replace all existing codes. The database stores only the hashes of the codes. */
export async function replaceRecoveryCodes(em: EntityManager, userId: number): Promise<string[]> {
  const codes = Array.from({ length: recoveryCodeCount }, generateRecoveryCode);
  await em.nativeDelete(RecoveryCode, { user: userId });
  await em.insertMany(
    RecoveryCode,
    codes.map((code) => ({ user: userId, hash: hashCodeTypedByUser(code) })),
  );
  return codes;
}

export const countRecoveryCodes = (em: EntityManager, userId: number): Promise<number> => em.count(RecoveryCode, { user: userId });
