import { defineEntity, p } from '@mikro-orm/core';

export const SigningKey = defineEntity({
  name: 'SigningKey',
  tableName: 'signing_keys',
  properties: {
    kid: p.text().primary(),
    algorithm: p.enum(['ES256', 'RS256']),
    /** The private JWK, encrypted: a copy of the database must not be able to sign. */
    encryptedJwk: p.text(),
    createdAt: p.datetime(3),
    /** Published from the beginning; of those that may sign already, the newest does. */
    signsFrom: p.datetime(3),
    /** What it signed is refused from then on; set when its successor is made. */
    retiresAt: p.datetime(3).nullable(),
  },
});
