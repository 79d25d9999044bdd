import { decryptText, encryptText } from '../../crypto/authenticated-encryption.ts';
import type { EntityManager } from '../../database/entity-manager/entity-manager-type.ts';
import type { IdentityProviderRow } from '../../identity-providers/identity-provider.entity.ts';
import { getAccountCheckIntervalMs, requestsOfflineAccess } from '../../identity-providers/provider-scopes-and-account-check-interval.ts';
import { LinkedAccount, type LinkedAccountRow } from './linked-account.entity.ts';

type Provider = Pick<IdentityProviderRow, 'issuer' | 'clientId' | 'preset' | 'scopes'>;

/**
 * The encryption context contains the client ID, because a refresh token can be used only with the client ID that it was issued for. After
 * the client ID has been changed, decryption fails, so the server never presents a token that the provider would refuse.
 */
const encryptionContext = ({ issuer, clientId }: Provider, linkedAccountId: number): string =>
  `refresh token of ${issuer} for ${clientId} of linked account ${linkedAccountId}`;

export const encryptProviderRefreshToken = (token: string, provider: Provider, linkedAccountId: number, key: Buffer): string =>
  encryptText(token, key, encryptionContext(provider, linkedAccountId));

/** Returns a linked account's refresh token, or undefined if the account has no token that can be used at this provider. */
export function decryptProviderRefreshToken(
  { id, sealedRefreshToken }: Pick<LinkedAccountRow, 'id' | 'sealedRefreshToken'>,
  provider: Provider,
  key: Buffer,
): string | undefined {
  if (sealedRefreshToken == null || !requestsOfflineAccess(provider)) return undefined;
  return decryptText(sealedRefreshToken, key, encryptionContext(provider, id));
}

const pendingEncryptionContext = ({ issuer, clientId }: Provider, subject: string): string =>
  `refresh token of ${issuer} for ${clientId} of account ${subject} that is not linked yet`;

/**
 * Encrypts the refresh token of an account that is not linked yet.
 * @returns null if there is no refresh token, or if the server does not use the refresh tokens of this provider
 */
export const encryptPendingRefreshToken = (token: string | undefined, provider: Provider, subject: string, key: Buffer): string | null =>
  token === undefined || !requestsOfflineAccess(provider) ? null : encryptText(token, key, pendingEncryptionContext(provider, subject));

/**
 * Returns the refresh token that `encryptPendingRefreshToken` encrypted, or undefined if there is none or if it belongs to a different
 * provider or account.
 */
export const decryptPendingRefreshToken = (
  sealed: string | null | undefined,
  provider: Provider,
  subject: string,
  key: Buffer,
): string | undefined => (sealed == null ? undefined : decryptText(sealed, key, pendingEncryptionContext(provider, subject)));

/** Returns when to check next whether an account still exists at its provider. `provider` is null if the provider is not enabled. */
export const calculateNextAccountCheckTime = (provider: Pick<Provider, 'preset'> | null, now: Date): Date =>
  new Date(now.getTime() + getAccountCheckIntervalMs(provider?.preset));

/**
 * Stores the refresh token that a provider issued at sign-in. If the provider issued no token, an earlier token is kept. Google, for
 * example, issues a token only when the user consents.
 */
export async function storeProviderRefreshToken(
  em: EntityManager,
  key: Buffer,
  provider: Provider,
  { linkedAccountId: id, refreshToken }: { readonly linkedAccountId: number; readonly refreshToken: string | undefined },
  now: Date,
): Promise<void> {
  if (refreshToken === undefined || !requestsOfflineAccess(provider)) return;
  const sealedRefreshToken = encryptProviderRefreshToken(refreshToken, provider, id, key);
  await em.nativeUpdate(
    LinkedAccount,
    { id },
    { sealedRefreshToken, checkDueAt: calculateNextAccountCheckTime(provider, now), isCheckPending: false },
  );
}

/** Column values of a linked account without a refresh token. */
export const clearedRefreshTokenColumns = { sealedRefreshToken: null, checkDueAt: null, isCheckPending: false } as const;
