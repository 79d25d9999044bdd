import { z } from 'zod';
import { lengthLimitedTextSchema } from '../../schema/text-timestamp-and-metadata-schemas.ts';
import { withSchemaName } from '../../schema/openapi-schema-name.ts';
import { extensibleEnumSchema } from '../../schema/extensible-enum.ts';

/** Methods that authenticate an application by its TLS client certificate (RFC 8705 section 2). */
export const certificateAuthenticationMethods = ['tls_client_auth', 'self_signed_tls_client_auth'] as const;

/**
 * How an application authenticates at the token endpoint (RFC 7591 section 2). An application with `client_secret_basic` can also send its
 * secret in the request body, as `client_secret_post` specifies.
 */
export const clientAuthenticationMethods = ['none', 'client_secret_basic', 'private_key_jwt', ...certificateAuthenticationMethods] as const;

/** Names in a certificate that identify an application (RFC 8705 section 2.1.2, without the prefix `tls_client_auth_`). */
export const certificateSubjectTypes = ['subject_dn', 'san_dns', 'san_uri', 'san_ip', 'san_email'] as const;

/** Maximum number of keys in an application's `jwks`. This maximum allows the rotation of one key for each algorithm. */
export const maxPublicKeysInApplicationJwks = 10;

const descriptions = {
  token_endpoint_auth_method:
    'How the application authenticates (RFC 7591). `none`: the application does not authenticate, because it is public. `client_secret_basic`: with a client secret in the `Authorization` header (HTTP Basic); the server also accepts the secret in the request body (`client_secret_post`). `private_key_jwt`: with a JWT that the application signs with its private key (RFC 7523), instead of a client secret. `tls_client_auth`: with a certificate from a certificate authority that the server trusts (RFC 8705). `self_signed_tls_client_auth`: with a certificate that is registered in `jwks`.',
  jwks: 'Public keys for verifying `private_key_jwt` assertions and request objects, as a JSON Web Key Set (RFC 7517). Each key is an EC key on the P-256 curve, an RSA key of at least 2048 bits or an Ed25519 key. A JSON Web Key Set that contains a private key is rejected. For `self_signed_tls_client_auth`, the `x5c` member contains the certificate.',
  jwks_uri:
    'URL of the JSON Web Key Set for verifying `private_key_jwt` assertions and request objects; an alternative to `jwks`. The server fetches the JSON Web Key Set over https from a public address when the application authenticates, and caches it.',
  tls_client_auth_subject:
    'The name that the certificate of an application that uses `tls_client_auth` must contain (RFC 8705 section 2.1.2); `null` for other applications. `subject_dn` is the distinguished name of the subject (RFC 4514), such as `CN=client,O=Example,C=DE`. The other types are names in the `subjectAltName` extension of the certificate.',
  tls_client_certificate_bound_access_tokens:
    'Whether access tokens are bound to the client certificate with which they were requested (RFC 8705 section 3). If `true`, API requests must use the same certificate as the token request.',
};

const requestObjectText =
  'Whether each authorization request must contain a signed request object (RFC 9101), in the `request` parameter of the authorization URL or of a pushed authorization request. The signature is verified with the keys in `jwks` or at `jwks_uri`. Request objects are accepted, but not required, if this field is `false`.';

/** Security profiles that an application can be required to follow. */
export const securityProfiles = ['fapi2'] as const;

/** Algorithms for signing ID tokens. RS256 is the default of OpenID Connect. */
export const idTokenSigningAlgorithms = ['RS256', 'ES256', 'PS256', 'EdDSA'] as const;

const idTokenAlgorithmText =
  "Algorithm used to sign the application's ID tokens, logout tokens, authorization responses (JARM) and introspection responses (RFC 9701); see OpenID Connect Dynamic Client Registration, section 2.";

const profileText =
  'Security profile. `fapi2` (FAPI 2.0 Security Profile): the application must use pushed authorization requests (RFC 9126) and tokens that are bound to a key with DPoP (RFC 9449) or, with `tls_client_certificate_bound_access_tokens`, to a certificate. The application authenticates with a certificate, or with `private_key_jwt` and ES256, PS256 or EdDSA. ID tokens are not signed with RS256, refresh tokens are not rotated, and there is no grace period for repeated refreshes. `null` means no profile.';

const nonceText =
  'Whether authorization requests can omit `code_challenge` (PKCE) if they contain a `nonce` and request the `openid` scope (RFC 9700 section 2.1.1). A nonce is less secure than PKCE, because only the application can check the nonce. Set this field to `true` only for an OpenID Connect client that does not support PKCE. This field can be `true` only for confidential applications.';

const noProtectionText =
  "Whether authorization requests can omit both `code_challenge` (PKCE) and `nonce`. This setting is only for certification tests and clients that cannot be changed, and is not recommended (RFC 9700 section 2.1.1). If `true`, an attack that injects an authorization code into the application's sign-in cannot be detected. This field can be `true` only for confidential applications.";

const subjectTypeText = 'Type of the name that the certificate must contain.';
const subjectValueText = 'Name that the certificate must contain.';

const optionalText = (description: string) => z.string().optional().describe(description);

const publicJwkSchema = withSchemaName(
  'PublicJsonWebKey',
  z.object({
    kty: z.string().describe('Key type: `EC`, `RSA` or `OKP`.'),
    kid: optionalText('Key ID, to which the `kid` in a JWT header refers.'),
    alg: optionalText('Algorithm that the key is used with.'),
    use: optionalText('Intended use of the key: `sig`.'),
    crv: optionalText('Curve of an `EC` or `OKP` key.'),
    x: optionalText('X coordinate of an `EC` key, or the public key of an `OKP` key.'),
    y: optionalText('Y coordinate of an `EC` key.'),
    n: optionalText('Modulus of an `RSA` key.'),
    e: optionalText('Exponent of an `RSA` key.'),
    x5c: z.array(z.string()).optional().describe('Certificate for the key, as base64-encoded DER.'),
  }),
);

/** Response fields that describe how an application authenticates and how its requests are secured. */
export const applicationAuthenticationResponseFields = {
  token_endpoint_auth_method: extensibleEnumSchema(clientAuthenticationMethods).describe(descriptions.token_endpoint_auth_method),
  jwks: z
    .object({ keys: z.array(publicJwkSchema) })
    .nullable()
    .describe(descriptions.jwks),
  jwks_uri: z.string().nullable().describe(descriptions.jwks_uri),
  tls_client_auth_subject: z
    .object({ type: extensibleEnumSchema(certificateSubjectTypes).describe(subjectTypeText), value: z.string().describe(subjectValueText) })
    .nullable()
    .describe(descriptions.tls_client_auth_subject),
  tls_client_certificate_bound_access_tokens: z.boolean().describe(descriptions.tls_client_certificate_bound_access_tokens),
  require_signed_request_object: z.boolean().describe(requestObjectText),
  security_profile: extensibleEnumSchema(securityProfiles).nullable().describe(profileText),
  allow_nonce_instead_of_pkce: z.boolean().describe(nonceText),
  allow_neither_pkce_nor_nonce: z.boolean().describe(noProtectionText),
  id_token_signed_response_alg: extensibleEnumSchema(idTokenSigningAlgorithms).describe(idTokenAlgorithmText),
};

// Unknown members are ignored (RFC 7517 section 4), so that keys can be copied from other tools.
const jwksInputSchema = z
  .object({ keys: z.array(z.record(z.unknown()).describe('A public key as a JSON Web Key.')).min(1).max(maxPublicKeysInApplicationJwks) })
  .strict();

/**
 * Fields in requests to create or update an application that determine how the application authenticates and how its requests are secured.
 */
export const applicationAuthenticationInputFields = {
  token_endpoint_auth_method: z
    .enum(clientAuthenticationMethods)
    .optional()
    .describe(
      `${descriptions.token_endpoint_auth_method} Default: \`none\` for a public application, and \`client_secret_basic\` for a confidential one.`,
    ),
  jwks: jwksInputSchema.nullable().optional().describe(descriptions.jwks),
  jwks_uri: lengthLimitedTextSchema(2000, 1).nullable().optional().describe(descriptions.jwks_uri),
  tls_client_auth_subject: z
    .object({
      type: z.enum(certificateSubjectTypes).describe(subjectTypeText),
      value: lengthLimitedTextSchema(1000, 1).describe(subjectValueText),
    })
    .strict()
    .nullable()
    .optional()
    .describe(descriptions.tls_client_auth_subject),
  tls_client_certificate_bound_access_tokens: z.boolean().optional().describe(descriptions.tls_client_certificate_bound_access_tokens),
  require_signed_request_object: z.boolean().optional().describe(requestObjectText),
  security_profile: z.enum(securityProfiles).nullable().optional().describe(profileText),
  allow_nonce_instead_of_pkce: z.boolean().optional().describe(nonceText),
  allow_neither_pkce_nor_nonce: z.boolean().optional().describe(noProtectionText),
  id_token_signed_response_alg: z
    .enum(idTokenSigningAlgorithms)
    .nullable()
    .optional()
    .describe(`${idTokenAlgorithmText} \`null\` selects the default: \`RS256\`, or \`ES256\` with a security profile.`),
};

export type PublicJsonWebKey = z.output<typeof publicJwkSchema>;
