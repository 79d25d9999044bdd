import { defineEntity, p } from '@mikro-orm/core';
import {
  applicationGrantTypes,
  applicationRegistrationMethods,
  certificateAuthenticationMethods,
  idTokenSigningAlgorithms,
  securityProfiles,
  type OrderSpendingLimits,
} from '@mandate/contract';
import type { CertificateSubject } from './certificate-subject.ts';
import {
  isCertificateAuthenticationMethod,
  type ClientAuthenticationMethod,
  type PublicJwks,
} from './client-authentication-method-and-keys.ts';
import { versionAndTimestampProperties } from '../database/entity-manager/version-and-timestamp-properties.ts';

export const deviceCodeGrantType = 'urn:ietf:params:oauth:grant-type:device_code';
export const supportedGrantTypes = applicationGrantTypes;
export type GrantType = (typeof supportedGrantTypes)[number];
export type ApplicationRegistration = (typeof applicationRegistrationMethods)[number];

/**
 * Registration methods that do not require an administrator's approval. Applications that are registered in these ways must be public
 * clients without administrative scopes, and users must consent at every sign-in.
 */
export const registrationMethodsWithoutApproval = [
  'open_registration',
  'metadata_document',
] as const satisfies readonly ApplicationRegistration[];

/** Returns whether an application was registered without an administrator's approval. */
export const isRegisteredWithoutApproval = ({ registration }: { readonly registration: ApplicationRegistration }): boolean =>
  registrationMethodsWithoutApproval.some((name) => name === registration);

const schema = defineEntity({
  name: 'Application',
  tableName: 'applications',
  properties: {
    id: p.bigint('number').primary().autoincrement().columnType('bigint').generated('identity'),
    /**
     * A client ID is a name that starts with a letter, or the URL of a client ID metadata document. User IDs are numbers, so the `sub`
     * claim of a token from the client credentials grant never equals a user ID.
     */
    clientId: p.text().unique().check(`length(client_id) <= 500 and client_id ~ '^([a-z][a-z0-9_-]{1,63}|https://[!-~]+)$'`),
    name: p.text().check('length(name) >= 1 and length(name) <= 100'),
    type: p.enum(['public', 'confidential']),
    /** SHA-256 hash of the secret, if the application has a secret; the secret itself is shown once and not stored. */
    secretHashes: p.array().defaultRaw(`'{}'`),
    /** The previous secret, valid until `previousSecretUntil`, so that clients can be updated to the new secret. */
    previousSecretHash: p.text().nullable(),
    previousSecretUntil: p.datetime(3).nullable(),
    /** Public keys of an application that authenticates with `private_key_jwt`, unless the application publishes its keys at `jwksUri`. */
    jwks: p.json<PublicJwks>().nullable(),
    jwksUri: p.text().nullable(),
    /** Certificate-based authentication method; null if the application's type and keys determine its method. */
    certificateAuthMethod: p.enum(certificateAuthenticationMethods).nullable(),
    /** Name that the certificate of an application that uses `tls_client_auth` must contain. */
    tlsClientAuthSubject: p.json<CertificateSubject>().nullable(),
    /** Whether access tokens are bound to the certificate that was used to request them. */
    tlsClientCertificateBoundAccessTokens: p.boolean().default(false),
    /** Whether authorization requests must be signed. */
    requireSignedRequestObject: p.boolean().default(false),
    /** Security profile that the application must follow. */
    securityProfile: p.enum(securityProfiles).nullable(),
    /** Algorithm used to sign ID tokens; `null` means the default (id-token-signing-algorithm.ts). */
    idTokenSignedResponseAlg: p.enum(idTokenSigningAlgorithms).nullable(),
    redirectUris: p.array().defaultRaw(`'{}'`),
    postLogoutRedirectUris: p.array().defaultRaw(`'{}'`),
    /** URL that receives logout tokens (OpenID Connect Back-Channel Logout). */
    backchannelLogoutUri: p.text().nullable().check('length(backchannel_logout_uri) <= 2000'),
    logoUri: p.text().nullable(),
    policyUri: p.text().nullable().check('length(policy_uri) <= 500'),
    tosUri: p.text().nullable().check('length(tos_uri) <= 500'),
    /** All scopes that can be granted to the application; if the list is empty, no scope can be granted. */
    scopes: p.array().defaultRaw(`'{}'`),
    /** Scopes that an administrator approved for all users; users are not asked for consent to them. */
    preapprovedScopes: p.array().defaultRaw(`'{}'`),
    grantTypes: p.array().defaultRaw(`'{}'`),
    status: p.enum(['active', 'disabled']).default('active'),
    /**
     * Whether the application belongs to the shop itself. Users see that the application belongs to the shop, but still have to consent.
     */
    firstParty: p.boolean().default(false),
    /** How the application was registered. */
    registration: p.enum(applicationRegistrationMethods).default('administrator'),
    /** When the cached client ID metadata document expires; null if there is no document. */
    metadataExpiresAt: p.datetime(3).nullable(),
    /** Time of the most recent consent. This time is recorded only for self-registered applications, which are deleted when unused. */
    lastConsentAt: p.datetime(3).nullable(),
    /** Overrides the server's default rate limit for this application. */
    rateLimitPerMinute: p.integer().nullable().check('rate_limit_per_minute >= 1'),
    quotaPerMonth: p.integer().nullable().check('quota_per_month >= 1'),
    /** Overrides the server's default grace period for repeated refreshes, in seconds. */
    refreshGraceSeconds: p.integer().nullable().check('refresh_grace_seconds >= 0 and refresh_grace_seconds <= 300'),
    /** Highest order limits that users can set for the application. */
    orderLimitsCeiling: p.json<OrderSpendingLimits>().nullable(),
    /** Product categories from which users can allow the application to order; null for all products. */
    orderCategoriesCeiling: p.array().nullable(),
    /** Whether a `nonce` can replace PKCE in authorization requests. Can be `true` only for confidential applications. */
    allowNonceInsteadOfPkce: p.boolean().default(false),
    /** Whether authorization requests may omit both PKCE and the `nonce`. Can be `true` only for confidential applications. */
    allowNeitherPkceNorNonce: p.boolean().default(false),
    ...versionAndTimestampProperties(),
  },
});

type AuthenticationSettings = {
  readonly jwks: PublicJwks | null;
  readonly jwksUri: string | null;
  readonly subject: CertificateSubject | null;
};

export class Application extends schema.class {
  /** Disables the application. From the next request on, the application's tokens are rejected. */
  disable(): void {
    this.status = 'disabled';
  }

  enable(): void {
    this.status = 'active';
  }

  /** Sets a new secret. The previous secret remains valid until the given time. */
  rotateSecret(hash: string, previousUntil: Date): void {
    this.previousSecretHash = this.secretHashes[0] ?? null;
    this.previousSecretUntil = previousUntil;
    this.secretHashes = [hash];
  }

  /** Replaces the authentication method and its keys. Only an application with `client_secret_basic` keeps its secret. */
  setAuthentication(method: ClientAuthenticationMethod, { jwks, jwksUri, subject }: AuthenticationSettings): void {
    this.certificateAuthMethod = isCertificateAuthenticationMethod(method) ? method : null;
    this.jwks = jwks;
    this.jwksUri = jwksUri;
    this.tlsClientAuthSubject = subject;
    if (method === 'client_secret_basic') return;
    this.secretHashes = [];
    this.previousSecretHash = null;
    this.previousSecretUntil = null;
  }
}
schema.setClass(Application);
