import { defineEntity, p } from '@mikro-orm/core';
import { User } from '../../users/user.entity.ts';

/** Apart from `users`, so that nothing that reads a user can read it along. */
export const Password = defineEntity({
  name: 'Password',
  tableName: 'passwords',
  properties: {
    user: () => p.oneToOne(User).primary().mapToPk().deleteRule('cascade').updateRule('no action'),
    hash: p.text(),
    changedAt: p.datetime(3),
  },
});
