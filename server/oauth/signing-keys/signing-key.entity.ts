import { idTokenSigningAlgorithms } from '@mandate/contract';
import { defineEntity, p } from '@mikro-orm/core';

export const SigningKey = defineEntity({
  name: 'SigningKey',
  tableName: 'signing_keys',
  properties: {
    kid: p.text().primary(),
    algorithm: p.enum(idTokenSigningAlgorithms),
    /** The private JWK, encrypted, so that a database copy cannot be used to sign tokens. */
    encryptedJwk: p.text(),
    createdAt: p.datetime(3),
    /**
     * Earliest time at which the key may be used for signing; the key is published before this time. If several keys may be used, the
     * newest one is used.
     */
    signsFrom: p.datetime(3),
    /** Time from which tokens signed with this key are rejected; set when the key's successor is created. */
    retiresAt: p.datetime(3).nullable(),
  },
});
