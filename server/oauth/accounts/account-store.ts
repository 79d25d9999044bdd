import { UniqueConstraintViolationException } from '@mikro-orm/core';
import type { FindAccount } from 'oidc-provider';
import type { EntityManager } from '../../database/entity-manager/entity-manager.ts';
import { prepareStatement } from '../../database/queries/prepared-statement.ts';
import { recordEvent } from '../../events/record-event.ts';
import { userFromEntity } from '../../users/user-response.ts';
import { User } from '../../users/user.entity.ts';
import { oauthContext } from '../protocol/oauth-request-context.ts';
import type { AccountRow } from '../storage/prefetched-records.ts';
import { verifyPassword } from '../passwords/password-hash.ts';
import { Password } from '../passwords/password.entity.ts';

export type NewAccount = {
  readonly name: string;
  readonly email: string;
  /** Result of `hashNewPassword`, computed before the transaction starts. */
  readonly passwordHash: string;
  readonly role?: User['role'];
};

export class EmailTakenError extends Error {
  override readonly name = 'EmailTakenError';
}

/**
 * Creates an active account. Its e-mail address counts as verified, either by the sign-up link or by the administrator who installs the
 * server.
 * @throws EmailTakenError
 */
export async function createAccount(
  em: EntityManager,
  { name, email, passwordHash, role = 'customer' }: NewAccount,
  now: Date,
): Promise<User> {
  try {
    return await em.transactional(async (inner) => {
      const user = inner.create(User, { name, email, role, emailVerification: 'verified' });
      await inner.flush();
      inner.create(Password, { user: user.id, hash: passwordHash, changedAt: now });
      await recordEvent(inner, 'user.created', userFromEntity(user), user.id);
      return user;
    });
  } catch (error) {
    if (error instanceof UniqueConstraintViolationException)
      throw new EmailTakenError('an account with this address already exists', { cause: error });
    throw error;
  }
}

/** An active account, with its password hash and the time at which the password was set; both are null if the account has no password. */
export type SignInCandidate = { id: number; email: string; hash: string | null; changed_at: string | null };

/** Returns when an account's password was set, in milliseconds since 1970; 0 if the account has no password. */
export const passwordSetAtMs = ({ changed_at: changedAt }: Pick<SignInCandidate, 'changed_at'>): number =>
  new Date(changedAt ?? 0).getTime();

const candidateByEmail = prepareStatement<SignInCandidate>(
  'find_sign_in_candidate',
  `select u.id, u.email, p.hash, p.changed_at from users u
   left join passwords p on p.user_id = u.id where lower(u.email) = lower($1) and u.status = 'active'`,
);
const candidateById = prepareStatement<SignInCandidate>(
  'find_sign_in_candidate_by_id',
  `select u.id, u.email, p.hash, p.changed_at from users u
   left join passwords p on p.user_id = u.id where u.id = $1 and u.status = 'active'`,
);

/** Finds an active account by its e-mail address (ignoring case) or its user ID. */
export async function findSignInCandidate(em: EntityManager, emailOrId: string | number): Promise<SignInCandidate | undefined> {
  if (typeof emailOrId === 'number') return (await candidateById(em, [emailOrId]))[0];
  return emailOrId.includes('\0') ? undefined : (await candidateByEmail(em, [emailOrId]))[0];
}

/** Verifies the password for an e-mail address. `accountId` is for the audit log only and must not influence the response. */
export async function verifyEmailAndPassword(
  em: EntityManager,
  email: string,
  password: string,
): Promise<{ matches: boolean; accountId: number | undefined }> {
  const candidate = await findSignInCandidate(em, email);
  const matches = await verifyPassword(password, candidate?.hash ?? undefined);
  return { matches, accountId: candidate?.id };
}

const upsertPassword = prepareStatement(
  'upsert_password',
  `insert into passwords (user_id, hash, changed_at) values ($1, $2, $3)
   on conflict (user_id) do update set hash = excluded.hash, changed_at = excluded.changed_at`,
);

/** Stores a new password hash. `hash` is the result of `hashNewPassword`, computed before the transaction starts. */
export async function storePasswordHash(em: EntityManager, userId: number, hash: string, now: Date): Promise<void> {
  await upsertPassword(em, [userId, hash, now]);
}

const activeAccount = prepareStatement<AccountRow>(
  'find_active_account',
  `select id, name, email, email_verification = 'verified' as email_verified, updated_at from users where id = $1 and status = 'active'`,
);

/** Returns the active account with this ID, or undefined if the account does not exist or is disabled or closed. */
export const findActiveAccount = async (em: EntityManager, id: string): Promise<AccountRow | undefined> =>
  /^\d{1,15}$/.test(id) ? (await activeAccount(em, [Number(id)]))[0] : undefined;

/** Creates the account lookup for oidc-provider. The lookup uses the account prefetched for the request, if available. */
export const createAccountLookup =
  (em: EntityManager): FindAccount =>
  async (ctx, id) => {
    const prefetched = oauthContext(ctx.req).prefetched?.account;
    const account = prefetched && String(prefetched.id) === id ? prefetched : await findActiveAccount(em, id);
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
