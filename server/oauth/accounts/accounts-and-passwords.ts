import { UniqueConstraintViolationException } from '@mikro-orm/core';
import type { FindAccount } from 'oidc-provider';
import type { EntityManager } from '../../database/entity-manager/entity-manager-type.ts';
import { recordEvent } from '../../events/record-event.ts';
import { buildEmailEqualsFilter } from '../../users/build-email-equals-filter.ts';
import { userFromEntity } from '../../users/user-from-entity.ts';
import { User } from '../../users/user.entity.ts';
import { getOauthRequestContext } from '../protocol/oauth-request-context.ts';
import type { AccountRow } from '../storage/prefetched-record-and-client-types.ts';
import { isImportedPasswordHash } from '../passwords/imported/stored-imported-password-hash.ts';
import { hashPassword, verifyPassword } from '../passwords/hash-and-verify-password.ts';
import { StoredPasswordHash } from '../passwords/stored-password-hash.entity.ts';
import { selectActiveAccountById } from './select-active-account.sql.ts';

export type NewAccount = {
  readonly name: string;
  readonly email: string;
  /** Result of `validateAndHashNewPassword`, computed before the transaction starts; absent for an account without a password. */
  readonly passwordHash?: string;
  readonly role?: User['role'];
  readonly locale?: string | undefined;
};

export class EmailTakenError extends Error {
  override readonly name = 'EmailTakenError';
}

/**
 * Creates an active account. The account's e-mail address is considered verified: the user opened the sign-up link, an identity provider
 * verified the address, or the administrator who installs the server specified the address.
 * @throws EmailTakenError
 */
export async function createAccountWithVerifiedEmail(
  em: EntityManager,
  { name, email, passwordHash, role = 'customer', locale }: NewAccount,
  now: Date,
): Promise<User> {
  try {
    return await em.transactional(async (inner) => {
      const user = inner.create(User, { name, email, role, locale: locale ?? null, emailVerification: 'verified' });
      await inner.flush();
      if (passwordHash !== undefined) inner.create(StoredPasswordHash, { user: user.id, hash: passwordHash, changedAt: now });
      await recordEvent(inner, 'user.created', userFromEntity(user), user.id);
      return user;
    });
  } catch (error) {
    if (error instanceof UniqueConstraintViolationException)
      throw new EmailTakenError('an account with this address already exists', { cause: error });
    throw error;
  }
}

/** An active account, with its password hash and the time when the password was set; both are null if the account has no password. */
export type ActiveAccountAndPasswordHash = {
  id: number;
  email: string;
  locale: string | null;
  hash: string | null;
  changedAt: Date | null;
};

/** Returns the time when an account's password was set, in milliseconds since the Unix epoch; 0 if the account has no password. */
export const getPasswordSetTimeMs = ({ changedAt }: Pick<ActiveAccountAndPasswordHash, 'changedAt'>): number => changedAt?.getTime() ?? 0;

/** Finds an active account by its e-mail address (ignoring case) or its user ID. */
export async function findActiveAccountAndPasswordHash(
  em: EntityManager,
  emailOrId: string | number,
): Promise<ActiveAccountAndPasswordHash | undefined> {
  if (typeof emailOrId === 'string' && emailOrId.includes('\0')) return undefined;
  const where = typeof emailOrId === 'number' ? { id: emailOrId } : buildEmailEqualsFilter(emailOrId);
  const user = await em.findOne(User, { ...where, status: 'active' }, { disableIdentityMap: true });
  // The password hash is queried even if there is no user, so that the response time does not reveal whether an account exists.
  const password = await em.findOne(StoredPasswordHash, { user: user?.id ?? 0 }, { disableIdentityMap: true });
  if (!user) return undefined;
  const { id, email, locale = null } = user;
  return { id, email, locale, hash: password?.hash ?? null, changedAt: password?.changedAt ?? null };
}

/** Verifies the password for an e-mail address. `accountId` is for the audit log only and must not affect the response. */
export async function verifyPasswordByEmailAndRehash(
  em: EntityManager,
  email: string,
  password: string,
): Promise<{ matches: boolean; accountId: number | undefined }> {
  const candidate = await findActiveAccountAndPasswordHash(em, email);
  return { matches: await verifyAccountPasswordAndRehash(em, candidate, password), accountId: candidate?.id };
}

/**
 * Verifies an account's password. Verification takes the same time even if the account does not exist. After a successful verification, an
 * imported hash is replaced with an argon2id hash, unless the password has been changed in the meantime. This replacement does not change
 * the stored time of the last password change.
 */
export async function verifyAccountPasswordAndRehash(
  em: EntityManager,
  account: ActiveAccountAndPasswordHash | undefined,
  password: string,
): Promise<boolean> {
  const hash = account?.hash ?? undefined;
  if (!(await verifyPassword(password, hash)) || account === undefined || hash === undefined) return false;
  if (isImportedPasswordHash(hash)) {
    await em.nativeUpdate(StoredPasswordHash, { user: account.id, hash }, { hash: await hashPassword(password) });
  }
  return true;
}

/** Stores a new password hash. `hash` is the result of `validateAndHashNewPassword`, computed before the transaction starts. */
export async function storePasswordHash(em: EntityManager, userId: number, hash: string, now: Date): Promise<void> {
  await em.upsert(StoredPasswordHash, { user: userId, hash, changedAt: now }, { disableIdentityMap: true });
}

/** Returns the active account with this ID, or undefined if the account does not exist or is disabled or closed. */
export const findActiveAccountById = async (em: EntityManager, id: string): Promise<AccountRow | undefined> =>
  /^\d{1,15}$/.test(id) ? (await selectActiveAccountById(em, [Number(id)]))[0] : undefined;

/** Creates the account lookup for oidc-provider. The lookup uses the account prefetched for the request, if available. */
export const createOidcAccountLookup =
  (em: EntityManager): FindAccount =>
  async (ctx, id) => {
    const prefetched = getOauthRequestContext(ctx.req).prefetched?.account;
    const account = prefetched && String(prefetched.id) === id ? prefetched : await findActiveAccountById(em, id);
    return (
      account && {
        accountId: id,
        claims: () => ({
          sub: id,
          name: account.name,
          email: account.email,
          email_verified: account.email_verified,
          updated_at: Math.floor(new Date(account.updated_at).getTime() / 1000),
        }),
      }
    );
  };
