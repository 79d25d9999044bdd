import { defineEntity, p } from '@mikro-orm/core';
import { User } from '../../users/user.entity.ts';

/** A TOTP authenticator app (RFC 6238). */
export const AuthenticatorApp = defineEntity({
  name: 'AuthenticatorApp',
  tableName: 'authenticator_apps',
  properties: {
    user: () => p.oneToOne(User).primary().mapToPk().deleteRule('cascade').updateRule('no action'),
    /** The secret is encrypted rather than hashed, because verifying a code requires the secret itself. */
    sealedSecret: p.text(),
    /** Time step (30 seconds) of the last accepted code, stored so that no code is accepted twice. */
    lastStep: p.bigint('number').columnType('bigint'),
    addedAt: p.datetime(3),
  },
});

/** A single-use code for users who have lost their authenticator app. */
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

/**
 * A used identifier, such as a passkey challenge, the ID of a provider sign-in or the nonce of an e-mail code. The server stores the
 * identifier to reject a second use.
 */
export const UsedSingleUseIdentifier = defineEntity({
  name: 'Challenge',
  tableName: 'challenges',
  properties: { challenge: p.text().primary(), expiresAt: p.datetime(3) },
  indexes: [{ name: 'challenges_expiry', properties: ['expiresAt'] }],
});
