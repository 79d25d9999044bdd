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
    /** Time from which the key may sign. The key is published before this time. If several keys may sign, the newest one signs. */
    signsFrom: p.datetime(3),
    /** Time from which tokens signed with this key are rejected; set when its successor is created. */
    retiresAt: p.datetime(3).nullable(),
  },
});
