import { defineEntity, p } from '@mikro-orm/core';
import { Application } from '../../applications/application.entity.ts';
import { User } from '../../users/user.entity.ts';

/** Scopes that a user has granted to an application, in any browser. */
export const UserConsent = defineEntity({
  name: 'Consent',
  tableName: 'consents',
  properties: {
    user: () => p.manyToOne(User).primary().mapToPk().deleteRule('cascade').updateRule('no action'),
    application: () => p.manyToOne(Application).primary().mapToPk().deleteRule('cascade').updateRule('no action'),
    scopes: p.array(),
    grantedAt: p.datetime(3),
  },
});
