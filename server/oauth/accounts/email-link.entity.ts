import { defineEntity, p } from '@mikro-orm/core';
import { User } from '../../users/user.entity.ts';

/** A link that somebody got by e-mail: good for one use, and known here by its hash alone. */
export const MailedLink = defineEntity({
  name: 'MailedLink',
  tableName: 'mailed_links',
  properties: {
    tokenHash: p.text().primary(),
    purpose: p.enum(['sign_up', 'password_reset', 'email_change']),
    user: () => p.manyToOne(User).mapToPk().nullable().deleteRule('cascade').updateRule('no action').index(false),
    /** Where it was sent, and what it proves to be somebody's. */
    email: p.text(),
    expiresAt: p.datetime(3),
  },
  indexes: [
    { name: 'mailed_links_user', properties: ['user'] },
    { name: 'mailed_links_expiry', properties: ['expiresAt'] },
  ],
});
