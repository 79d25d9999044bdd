import { defineEntity, p } from '@mikro-orm/core';
import { User } from '../../users/user.entity.ts';

/** A single-use link that was sent by e-mail. The database stores only the hash of the link's token. */
export const EmailedOneTimeLink = defineEntity({
  name: 'MailedLink',
  tableName: 'mailed_links',
  properties: {
    tokenHash: p.text().primary(),
    purpose: p.enum(['sign_up', 'password_reset', 'email_change', 'account_link']),
    user: () => p.manyToOne(User).mapToPk().nullable().deleteRule('cascade').updateRule('no action').index(false),
    /** E-mail address to which the link was sent. Using the link proves that the user owns the address. */
    email: p.text(),
    expiresAt: p.datetime(3),
    /** Encrypted refresh token for the provider account to link; null for links with a different purpose. */
    sealedRefreshToken: p.text().nullable(),
  },
  indexes: [
    { name: 'mailed_links_user', properties: ['user'] },
    { name: 'mailed_links_expiry', properties: ['expiresAt'] },
  ],
});
