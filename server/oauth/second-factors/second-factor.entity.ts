import { defineEntity, p } from '@mikro-orm/core';
import { User } from '../../users/user.entity.ts';

/** An app on somebody's telephone that shows six digits (RFC 6238). */
export const AuthenticatorApp = defineEntity({
  name: 'AuthenticatorApp',
  tableName: 'authenticator_apps',
  properties: {
    user: () => p.oneToOne(User).primary().mapToPk().deleteRule('cascade').updateRule('no action'),
    /** Encrypted: it has to be read to check a code. */
    sealedSecret: p.text(),
    /** The thirty seconds of the last code that was taken: none is taken twice. */
    lastStep: p.bigint('number').columnType('bigint'),
    addedAt: p.datetime(3),
  },
});

/** For the day the telephone is lost; each is good for once. */
export const RecoveryCode = defineEntity({
  name: 'RecoveryCode',
  tableName: 'recovery_codes',
  properties: {
    user: () => p.manyToOne(User).primary().mapToPk().deleteRule('cascade').updateRule('no action'),
    hash: p.text().primary(),
  },
});

export const Passkey = defineEntity({
  name: 'Passkey',
  tableName: 'passkeys',
  properties: {
    id: p.bigint('number').primary().autoincrement().columnType('bigint').generated('identity'),
    user: () => p.manyToOne(User).mapToPk().deleteRule('cascade').updateRule('no action').index(false),
    credentialId: p.text().unique(),
    publicKey: p.text(),
    counter: p.bigint('number').columnType('bigint'),
    transports: p.array().defaultRaw(`'{}'`),
    name: p.text().check('length(name) >= 1 and length(name) <= 100'),
    addedAt: p.datetime(3),
    lastUsedAt: p.datetime(3).nullable(),
  },
  indexes: [{ name: 'passkeys_user', properties: ['user'] }],
});

/** What a passkey is asked to sign; each is good for once. */
export const Challenge = defineEntity({
  name: 'Challenge',
  tableName: 'challenges',
  properties: { challenge: p.text().primary(), expiresAt: p.datetime(3) },
  indexes: [{ name: 'challenges_expiry', properties: ['expiresAt'] }],
});
