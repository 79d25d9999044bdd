import { defineEntity, p } from '@mikro-orm/core';
import { User } from '../../users/user.entity.ts';

/** Password hash of a user. Stored separately from `users`, so that code that reads users does not load it. */
export const Password = defineEntity({
  name: 'Password',
  tableName: 'passwords',
  properties: {
    user: () => p.oneToOne(User).primary().mapToPk().deleteRule('cascade').updateRule('no action'),
    hash: p.text(),
    changedAt: p.datetime(3),
  },
});
