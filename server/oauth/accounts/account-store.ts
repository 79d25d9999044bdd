import { UniqueConstraintViolationException } from '@mikro-orm/core';
import type { FindAccount } from 'oidc-provider';
import type { Em } from '../../database/entity-manager/entity-manager.ts';
import { statement } from '../../database/queries/prepared-statement.ts';
import { recordEvent } from '../../events/record-event.ts';
import { userBody } from '../../users/user-body.ts';
import { User } from '../../users/user.entity.ts';
import { type AccountRow, foundTogether } from '../storage/prefetched-records.ts';
import { passwordMatches } from '../passwords/password-hash.ts';
import { Password } from '../passwords/password.entity.ts';

export type NewAccount = {
  readonly name: string;
  readonly email: string;
  /** From `hashPassword`, made before any transaction begins. */
  readonly passwordHash: string;
  readonly role?: User['role'];
};

export class EmailTakenError extends Error {
  override readonly name = 'EmailTakenError';
}

/** Somebody who can sign in. The address is verified: by the link of the sign-up, or by the administrator who installs the server. */
export async function createAccount(em: Em, { name, email, passwordHash, role = 'customer' }: NewAccount, now: Date): Promise<User> {
  try {
    return await em.transactional(async (inner) => {
      const user = inner.create(User, { name, email, role, emailVerification: 'verified' });
      await inner.flush();
      inner.create(Password, { user: user.id, hash: passwordHash, changedAt: now });
      await recordEvent(inner, 'user.created', userBody(user), user.id);
      return user;
    });
  } catch (error) {
    if (error instanceof UniqueConstraintViolationException) throw new EmailTakenError('the address has an account', { cause: error });
    throw error;
  }
}

/** An active account with the hash of its password and the time at which the password was set, if it has one. */
export type SignInCandidate = { id: number; email: string; hash: string | null; changed_at: string | null };

/** When the password of an account was set, in milliseconds since 1970; 0 without one. */
export const passwordSetAt = ({ changed_at: changedAt }: Pick<SignInCandidate, 'changed_at'>): number => new Date(changedAt ?? 0).getTime();

const candidateByEmail = statement<SignInCandidate>(
  'sign_in_candidate',
  `select u.id, u.email, p.hash, p.changed_at from users u
   left join passwords p on p.user_id = u.id where lower(u.email) = lower($1) and u.status = 'active'`,
);
const candidateById = statement<SignInCandidate>(
  'sign_in_candidate_by_id',
  `select u.id, u.email, p.hash, p.changed_at from users u
   left join passwords p on p.user_id = u.id where u.id = $1 and u.status = 'active'`,
);

/** Finds the account that an e-mail address, in any case, or a user ID belongs to. */
export async function findSignInCandidate(em: Em, emailOrId: string | number): Promise<SignInCandidate | undefined> {
  if (typeof emailOrId === 'number') return (await candidateById(em, [emailOrId]))[0];
  return emailOrId.includes('\0') ? undefined : (await candidateByEmail(em, [emailOrId]))[0];
}

/** Whether the password is right for the address; and whose address it is, which is for the log of what happened and for no answer. */
export async function checkPassword(em: Em, email: string, password: string): Promise<{ matches: boolean; accountId: number | undefined }> {
  const candidate = await findSignInCandidate(em, email);
  const matches = await passwordMatches(password, candidate?.hash ?? undefined);
  return { matches, accountId: candidate?.id };
}

const putPassword = statement(
  'put_password',
  `insert into passwords (user_id, hash, changed_at) values ($1, $2, $3)
   on conflict (user_id) do update set hash = excluded.hash, changed_at = excluded.changed_at`,
);
/** `hash` is from `hashPassword`, made before the transaction begins. */
export async function changePassword(em: Em, userId: number, hash: string, now: Date): Promise<void> {
  await putPassword(em, [userId, hash, now]);
}

const activeAccount = statement<AccountRow>(
  'active_account',
  `select id, name, email, email_verification = 'verified' as email_verified, updated_at from users where id = $1 and status = 'active'`,
);

/** Somebody who may be signed in; undefined for whoever is gone or stopped. */
export const readAccount = async (em: Em, id: string): Promise<AccountRow | undefined> =>
  /^\d{1,15}$/.test(id) ? (await activeAccount(em, [Number(id)]))[0] : undefined;

export const findAccount =
  (em: Em): FindAccount =>
  async (ctx, id) => {
    const known = foundTogether(ctx)?.account;
    const account = known && String(known.id) === id ? known : await readAccount(em, id);
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
