import { defineEntity, p } from '@mikro-orm/core';
import { Application } from '../../applications/application.entity.ts';
import { User } from '../../users/user.entity.ts';

/** What a person allowed an application, whatever the browser it was said in. */
export const Consent = defineEntity({
  name: 'Consent',
  tableName: 'consents',
  properties: {
    user: () => p.manyToOne(User).primary().mapToPk().deleteRule('cascade').updateRule('no action'),
    application: () => p.manyToOne(Application).primary().mapToPk().deleteRule('cascade').updateRule('no action'),
    scopes: p.array(),
    grantedAt: p.datetime(3),
  },
});
