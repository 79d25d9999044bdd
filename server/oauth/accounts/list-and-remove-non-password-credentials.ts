import { recordAuditEvent, type RequestSource } from '../../audit/record-audit-event.ts';
import { listActiveApiKeysOfUser } from '../../api-keys/list-active-and-latest-past-api-keys-of-user.ts';
import { revokeApiKeys } from '../../api-keys/revoke-api-keys.ts';
import type { EntityManager } from '../../database/entity-manager/entity-manager-type.ts';
import {
  findAuthenticatorAppAddedAndUsedTimes,
  deleteAuthenticatorAppAndRecoveryCodes,
} from '../second-factors/authenticator-app-and-recovery-codes.ts';
import { listLinkedAccounts, deleteLinkedAccountsExcept } from '../linked-accounts/linked-accounts-and-enabled-providers.ts';
import { listPasskeys, deletePasskeysExcept } from '../second-factors/passkeys.ts';

/**
 * An account's passkey, authenticator app, linked account or API key. A password reset keeps only the credentials that the user selects.
 */
export type AccountCredential = {
  readonly kind: 'passkey' | 'authenticator_app' | 'linked_account' | 'api_key';
  /**
   * Identifies the credential in forms and in the audit log, for example `passkey:7`. An authenticator app is identified by its creation
   * time, which distinguishes it from an app added later.
   */
  readonly key: string;
  readonly id: number;
  readonly name: string;
  /** Prefix of an API key; empty for other credentials. */
  readonly prefix: string;
  readonly createdAt: Date;
  readonly lastUsedAt: Date | null;
};

/** Lists an account's passkeys, authenticator app, linked accounts and active API keys. */
export async function listNonPasswordCredentials(em: EntityManager, userId: number, now: Date): Promise<AccountCredential[]> {
  const app = await findAuthenticatorAppAddedAndUsedTimes(em, userId);
  const passkeys = await listPasskeys(em, userId);
  const linkedAccounts = await listLinkedAccounts(em, userId);
  const apiKeys = await listActiveApiKeysOfUser(em, userId, now);
  return [
    ...passkeys.map(({ addedAt, ...passkey }) => ({ ...passkey, ...toIdentity('passkey', passkey.id), prefix: '', createdAt: addedAt })),
    ...(app ? [{ ...toIdentity('authenticator_app', app.addedAt.getTime()), name: '', prefix: '', ...datesOf(app) }] : []),
    ...linkedAccounts.map(({ id, issuer, label, linkedAt, lastUsedAt }) => ({
      ...toIdentity('linked_account', id),
      name: `${label}, ${new URL(issuer).host}`,
      prefix: '',
      createdAt: linkedAt,
      lastUsedAt,
    })),
    ...apiKeys.map(({ id, name, prefix, createdAt, lastUsedAt }) => ({
      ...toIdentity('api_key', id),
      name,
      prefix,
      createdAt,
      lastUsedAt,
    })),
  ];
}

const toIdentity = (kind: AccountCredential['kind'], id: number) => ({ kind, id, key: `${kind}:${id}` });
const datesOf = ({ addedAt, lastUsedAt }: { addedAt: Date; lastUsedAt: Date }) => ({ createdAt: addedAt, lastUsedAt });

export type CredentialSelection = { readonly removed: readonly AccountCredential[]; readonly kept: readonly AccountCredential[] };

/** Splits the credentials into those to keep, whose `key` is in `keep`, and those to remove. */
export const partitionCredentialsIntoKeptAndRemoved = (
  credentials: readonly AccountCredential[],
  keep: ReadonlySet<string>,
): CredentialSelection => ({
  removed: credentials.filter(({ key }) => !keep.has(key)),
  kept: credentials.filter(({ key }) => keep.has(key)),
});

/**
 * Removes every passkey, authenticator app, linked account and API key that is not in `kept`, even if it was added after the list was read.
 * Records each removal in the audit log. Call this in a transaction that has locked the user.
 */
export async function removeNonPasswordCredentialsNotKept(
  em: EntityManager,
  userId: number,
  { removed, kept }: CredentialSelection,
  source: RequestSource,
  now: Date,
): Promise<void> {
  const keptIds = (kind: AccountCredential['kind']): number[] => kept.filter((one) => one.kind === kind).map(({ id }) => id);
  await deletePasskeysExcept(em, userId, keptIds('passkey'));
  await deleteLinkedAccountsExcept(em, userId, keptIds('linked_account'));
  for (const { kind, key } of removed) {
    if (kind === 'passkey') await recordAuditEvent(em, source, { action: 'passkey.removed', actorId: userId, userId, subject: key }, now);
    if (kind === 'linked_account')
      await recordAuditEvent(em, source, { action: 'linked_account.removed', actorId: userId, userId, subject: key }, now);
  }
  if (keptIds('authenticator_app').length === 0) {
    await deleteAuthenticatorAppAndRecoveryCodes(em, userId);
    if (removed.some(({ kind }) => kind === 'authenticator_app'))
      await recordAuditEvent(em, source, { action: 'authenticator_app.removed', actorId: userId, userId }, now);
  }
  await revokeApiKeys(em, { userId, except: keptIds('api_key') }, { source, actorId: userId, reason: 'password_reset' }, now);
}
