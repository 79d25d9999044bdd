import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import { identityProviderAudiences, identityProviderAuthenticationMethods, identityProviderPresetNames } from '@mandate/contract';
import { versionAndTimestampProperties } from '../database/entity-manager/version-and-timestamp-properties.ts';
import { logoEntityProperties } from '../logos/logo-columns.ts';
import { User } from '../users/user.entity.ts';

/** An OpenID Connect provider through which users can sign in. */
export const IdentityProviderEntity = defineEntity({
  name: 'IdentityProviderEntity',
  tableName: 'identity_providers',
  properties: {
    id: p.bigint('number').primary().autoincrement().columnType('bigint').generated('identity'),
    slug: p.text().unique().check(`slug ~ '^[a-z0-9][a-z0-9-]{0,39}$'`),
    preset: p.enum(identityProviderPresetNames),
    name: p.text().check('length(name) >= 1 and length(name) <= 60'),
    issuer: p.text().unique().check('length(issuer) <= 500'),
    clientId: p.text(),
    tokenEndpointAuthMethod: p.enum(identityProviderAuthenticationMethods),
    /**
     * The encrypted client secret or private key, depending on `tokenEndpointAuthMethod`. The value is not hashed, because the server needs
     * the original value to authenticate to the provider.
     */
    sealedCredential: p.text(),
    /** `kid` of the private key. */
    keyId: p.text().nullable(),
    /** Apple team ID. */
    teamId: p.text().nullable(),
    scopes: p.array(),
    buttonLabel: p.text().nullable(),
    ...logoEntityProperties(),
    audience: p.enum(identityProviderAudiences),
    emailDomain: p.text().nullable(),
    createsAccounts: p.boolean(),
    /** `acr` or `amr` values that indicate that the user signed in with two factors. */
    twoFactorValues: p.array(),
    requiredForStaff: p.boolean(),
    /** Administrator who can sign in without the provider. */
    breakGlassUser: () => p.manyToOne(User).mapToPk().nullable().deleteRule('set null').updateRule('no action').index(false),
    status: p.enum(['enabled', 'disabled']),
    ...versionAndTimestampProperties(),
  },
  indexes: [{ name: 'identity_providers_break_glass_user', properties: ['breakGlassUser'], where: 'break_glass_user_id is not null' }],
});

export type IdentityProviderRow = InferEntity<typeof IdentityProviderEntity>;
