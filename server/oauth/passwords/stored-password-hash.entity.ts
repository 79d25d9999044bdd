import { defineEntity, p } from '@mikro-orm/core';
import { User } from '../../users/user.entity.ts';

/** A user's password hash. The hash is stored separately from `users`, so that code that reads users does not load the hash. */
export const StoredPasswordHash = defineEntity({
  name: 'Password',
  tableName: 'passwords',
  properties: {
    user: () => p.oneToOne(User).primary().mapToPk().deleteRule('cascade').updateRule('no action'),
    hash: p.text(),
    changedAt: p.datetime(3),
  },
});
