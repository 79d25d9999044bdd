import type { EntityManager } from '../../database/entity-manager/entity-manager-type.ts';
import { insertIfAbsent } from '../../database/queries/insert-if-absent.ts';
import { IdentityProviderEntity, type IdentityProviderRow } from '../../identity-providers/identity-provider.entity.ts';
import { User } from '../../users/user.entity.ts';
import type { ProviderIdentity } from '../identity-providers/provider-identity-and-access-rules.ts';
import { StoredPasswordHash } from '../passwords/stored-password-hash.entity.ts';
import { Passkey } from '../second-factors/second-factors-and-used-identifiers.entity.ts';
import { LinkedAccount } from './linked-account.entity.ts';

/** A linked account as the user sees it. */
export type LinkedAccountSummary = {
  readonly id: number;
  readonly issuer: string;
  readonly label: string;
  readonly linkedAt: Date;
  readonly lastUsedAt: Date | null;
};

/** Lists a user's linked accounts, oldest first. */
export async function listLinkedAccounts(em: EntityManager, userId: number): Promise<LinkedAccountSummary[]> {
  const rows = await em.find(LinkedAccount, { user: userId }, { orderBy: { id: 'asc' }, disableIdentityMap: true });
  return rows.map(({ id, issuer, label, linkedAt, lastUsedAt = null }) => ({ id, issuer, label, linkedAt, lastUsedAt }));
}

/** Finds a linked account by its issuer and subject. */
export const findLinkedAccountByIdentity = (em: EntityManager, { issuer, subject }: Pick<ProviderIdentity, 'issuer' | 'subject'>) =>
  em.findOne(LinkedAccount, { issuer, subject }, { disableIdentityMap: true });

/**
 * Links an account at a provider to a user. Call this in a transaction that has locked the user.
 * @returns the ID of the link, or undefined if the account at the provider is already linked
 */
export async function addLinkedAccount(
  em: EntityManager,
  userId: number,
  { issuer, subject, label }: Pick<ProviderIdentity, 'issuer' | 'subject' | 'label'>,
  now: Date,
): Promise<number | undefined> {
  const isAdded = await insertIfAbsent(em, LinkedAccount, { user: userId, issuer, subject, label, linkedAt: now });
  return isAdded ? (await findLinkedAccountByIdentity(em, { issuer, subject }))?.id : undefined;
}

export const updateLinkedAccountLabelAndLastUse = async (em: EntityManager, id: number, label: string, now: Date): Promise<void> => {
  await em.nativeUpdate(LinkedAccount, { id }, { label, lastUsedAt: now });
};

export const deleteLinkedAccount = async (em: EntityManager, userId: number, id: number): Promise<boolean> =>
  (await em.nativeDelete(LinkedAccount, { id, user: userId })) > 0;

/** Removes all of the user's linked accounts except those with these IDs. */
export async function deleteLinkedAccountsExcept(em: EntityManager, userId: number, keptIds: readonly number[]): Promise<void> {
  await em.nativeDelete(LinkedAccount, { user: userId, ...(keptIds.length > 0 && { id: { $nin: [...keptIds] } }) });
}

/**
 * Returns whether the user could still sign in without the passkey or linked account that `without` specifies. Linked accounts count only
 * if their provider is enabled. Call this in a transaction that has locked the user.
 */
export async function hasOtherSignInMethod(
  em: EntityManager,
  userId: number,
  without: { readonly passkeyId?: number; readonly linkedAccountId?: number },
): Promise<boolean> {
  if ((await em.count(StoredPasswordHash, { user: userId })) > 0) return true;
  const { passkeyId, linkedAccountId } = without;
  if ((await em.count(Passkey, { user: userId, ...(passkeyId !== undefined && { id: { $ne: passkeyId } }) })) > 0) return true;
  const issuers = (await listEnabledProviders(em)).map(({ issuer }) => issuer);
  const linked = { user: userId, issuer: { $in: issuers }, ...(linkedAccountId !== undefined && { id: { $ne: linkedAccountId } }) };
  return (await em.count(LinkedAccount, linked)) > 0;
}

/** Lists the enabled providers, in the order in which pages show their buttons. */
export const listEnabledProviders = (em: EntityManager): Promise<IdentityProviderRow[]> =>
  em.find(IdentityProviderEntity, { status: 'enabled' }, { orderBy: { id: 'asc' }, limit: 20, disableIdentityMap: true });

/** Finds the enabled provider with this slug. */
export const findEnabledProviderBySlug = (em: EntityManager, slug: string): Promise<IdentityProviderRow | null> =>
  slug.includes('\0')
    ? Promise.resolve(null)
    : em.findOne(IdentityProviderEntity, { slug, status: 'enabled' }, { disableIdentityMap: true });

/** Finds the enabled provider with this issuer. */
export const findEnabledProviderByIssuer = (em: EntityManager, issuer: string): Promise<IdentityProviderRow | null> =>
  em.findOne(IdentityProviderEntity, { issuer, status: 'enabled' }, { disableIdentityMap: true });

/**
 * Returns the provider through which a user must sign in, or undefined if the user's chosen sign-in method is allowed.
 * @param issuer issuer of the provider that was used; undefined for a password or passkey
 */
export async function findRequiredStaffProviderIfNotUsed(
  em: EntityManager,
  userId: number,
  issuer: string | undefined,
): Promise<IdentityProviderRow | undefined> {
  const required = (await listEnabledProviders(em)).filter(({ requiredForStaff }) => requiredForStaff);
  if (required.length === 0 || required.some((provider) => provider.issuer === issuer || provider.breakGlassUser === userId))
    return undefined;
  const isStaff = (await em.count(User, { id: userId, role: { $in: ['staff', 'admin'] } })) > 0;
  return isStaff ? required[0] : undefined;
}
