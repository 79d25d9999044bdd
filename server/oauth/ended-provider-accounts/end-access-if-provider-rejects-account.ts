import { LockMode } from '@mikro-orm/core';
import type { RequestSource } from '../../audit/record-audit-event.ts';
import type { EntityManager } from '../../database/entity-manager/entity-manager-type.ts';
import type { IdentityProviderRow } from '../../identity-providers/identity-provider.entity.ts';
import { InvalidProviderResponseError, IdentityProviderUnavailableError } from '../identity-providers/provider-errors.ts';
import type { RelyingParty } from '../identity-providers/relying-party.ts';
import { endAccessAfterProviderRejection } from './end-access-after-provider-logout-or-rejection.ts';
import { LinkedAccount, type LinkedAccountRow } from '../linked-accounts/linked-account.entity.ts';
import {
  decryptProviderRefreshToken,
  encryptProviderRefreshToken,
  calculateNextAccountCheckTime,
  clearedRefreshTokenColumns,
} from '../linked-accounts/linked-account-refresh-token.ts';
import { findEnabledProviderByIssuer } from '../linked-accounts/linked-accounts-and-enabled-providers.ts';

export type AccountCheckDependencies = {
  readonly em: EntityManager;
  readonly relyingParty: RelyingParty;
  /** Encryption key for the refresh tokens. */
  readonly key: Buffer;
  readonly log: { error(details: object, message: string): void };
};

/**
 * Checks whether an account still exists at its provider, if a check is due, and revokes the user's access if the provider refuses the
 * account's refresh token. Only one of several concurrent calls contacts the provider. The user keeps access if the provider is
 * unavailable, or if the provider's response does not show whether the account still exists. Must not be called in a transaction.
 * @returns whether access was revoked
 */
export async function endAccessIfProviderRejectsAccount(
  { em, relyingParty, key, log }: AccountCheckDependencies,
  linkedAccountId: number,
  source: RequestSource,
): Promise<boolean> {
  const claimed = await em.transactional((inner) => claimCheck(inner, key, linkedAccountId, new Date()));
  if (!claimed) return false;
  const { account, provider, refreshToken } = claimed;
  const report = (reason: string): false => {
    log.error({ provider: provider.slug, reason }, 'an account at an identity provider could not be checked');
    return false;
  };
  try {
    await relyingParty.discover(provider); // if discovery fails, the provider has not received the token
    await updateIfUnchanged(em, account, { isCheckPending: true });
    const result = await relyingParty.redeemRefreshToken(provider, refreshToken, account.subject);
    if (result.outcome === 'accepted') {
      const sealedRefreshToken = encryptProviderRefreshToken(result.refreshToken, provider, account.id, key);
      await updateIfUnchanged(em, account, { sealedRefreshToken, isCheckPending: false });
      return false;
    }
    if (result.outcome === 'failed') {
      await updateIfUnchanged(em, account, { isCheckPending: false });
      return report(`the provider responded with ${result.reason}`);
    }
    if (!account.isCheckPending) return await endAccessAfterProviderRejection(em, provider, account, source, new Date());
    // An earlier response, which may have contained a new token, was lost. The provider may therefore have refused an outdated token.
    await updateIfUnchanged(em, account, clearedRefreshTokenColumns);
    return report('the refresh token was refused after a response had been lost');
  } catch (error) {
    if (error instanceof IdentityProviderUnavailableError || error instanceof InvalidProviderResponseError) return report(error.message);
    throw error;
  }
}

type ClaimedCheck = { readonly account: LinkedAccountRow; readonly provider: IdentityProviderRow; readonly refreshToken: string };

/** Sets the time of the next check, so that no other request checks the account before then. Returns undefined if no check is due. */
async function claimCheck(em: EntityManager, key: Buffer, id: number, now: Date): Promise<ClaimedCheck | undefined> {
  const options = { lockMode: LockMode.PESSIMISTIC_WRITE, disableIdentityMap: true } as const;
  const account = await em.findOne(LinkedAccount, { id, checkDueAt: { $lte: now } }, options);
  if (!account) return undefined;
  const provider = await findEnabledProviderByIssuer(em, account.issuer);
  const refreshToken = provider ? decryptProviderRefreshToken(account, provider, key) : undefined;
  const isUsable = provider === null || refreshToken !== undefined;
  await em.nativeUpdate(
    LinkedAccount,
    { id },
    isUsable ? { checkDueAt: calculateNextAccountCheckTime(provider, now) } : clearedRefreshTokenColumns,
  );
  return provider && refreshToken !== undefined ? { account, provider, refreshToken } : undefined;
}

/** Updates a linked account unless a sign-in has replaced its refresh token. */
const updateIfUnchanged = (
  em: EntityManager,
  { id, sealedRefreshToken }: LinkedAccountRow,
  columns: Partial<Pick<LinkedAccountRow, 'sealedRefreshToken' | 'checkDueAt' | 'isCheckPending'>>,
): Promise<number> => em.nativeUpdate(LinkedAccount, { id, sealedRefreshToken }, columns);
