import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import { User } from '../../users/user.entity.ts';

/**
 * An account at an identity provider through which a user can sign in. Only the issuer and the subject identify the account. The row does
 * not refer to the configured provider, so the link works again if the provider is deleted and then added again.
 */
export const LinkedAccount = defineEntity({
  name: 'LinkedAccount',
  tableName: 'linked_accounts',
  properties: {
    id: p.bigint('number').primary().autoincrement().columnType('bigint').generated('identity'),
    user: () => p.manyToOne(User).mapToPk().deleteRule('cascade').updateRule('no action').index(false),
    issuer: p.text(),
    subject: p.text(),
    /**
     * Name or address of the account at the provider when the account was last used. The text is shown to users, but never used to find an
     * account.
     */
    label: p.text(),
    linkedAt: p.datetime(3),
    lastUsedAt: p.datetime(3).nullable(),
    /** The provider's refresh token, encrypted (`linked-account-refresh-token.ts`); null if there is none. */
    sealedRefreshToken: p.text().nullable(),
    /**
     * After this time, the next token refresh at this server checks whether the account still exists at the provider. Null if there is no
     * refresh token.
     */
    checkDueAt: p.datetime(3).nullable(),
    /**
     * Whether a check has started but not completed. In this case, the provider may have replaced the refresh token in a response that this
     * server has not received.
     */
    isCheckPending: p.boolean().default(false),
  },
  uniques: [{ name: 'linked_accounts_issuer_subject', properties: ['issuer', 'subject'] }],
  indexes: [{ name: 'linked_accounts_user', properties: ['user'] }],
});

export type LinkedAccountRow = InferEntity<typeof LinkedAccount>;
