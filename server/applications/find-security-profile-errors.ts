import { certificateAuthenticationMethods, type securityProfiles } from '@mandate/contract';
import { translatable, type FieldErrorDetail } from '../http/problem-details/translatable-text.ts';
import { deviceCodeGrantType } from './application.entity.ts';
import type { UncheckedJwks } from './client-authentication-method-and-keys.ts';
import { listPkceExceptionFields } from './list-pkce-exception-fields.ts';

export type SecurityProfile = (typeof securityProfiles)[number];

export type ProfiledApplication = {
  readonly securityProfile?: SecurityProfile | null | undefined;
  readonly tokenEndpointAuthMethod?: string | undefined;
  readonly jwks?: UncheckedJwks | null | undefined;
  readonly grantTypes: readonly string[];
  readonly redirectUris: readonly string[];
  readonly refreshGraceSeconds?: number | null | undefined;
  readonly allowNonceInsteadOfPkce?: boolean | undefined;
  readonly allowNeitherPkceNorNonce?: boolean | undefined;
  readonly idTokenSignedResponseAlg?: string | null | undefined;
};

type SecurityProfileError = {
  readonly field:
    | 'token_endpoint_auth_method'
    | 'jwks'
    | 'grant_types'
    | 'redirect_uris'
    | 'refresh_grace_seconds'
    | 'allow_nonce_instead_of_pkce'
    | 'allow_neither_pkce_nor_nonce'
    | 'id_token_signed_response_alg';
  readonly detail: FieldErrorDetail;
};

/** Authentication methods that do not transmit a secret (FAPI 2.0 Security Profile section 5.3.2.1). */
const strongAuthenticationMethods: ReadonlySet<string> = new Set(['private_key_jwt', ...certificateAuthenticationMethods]);

/** If the application must follow the FAPI 2.0 Security Profile, yields an error for each violation of this profile. */
export function* findSecurityProfileErrors(application: ProfiledApplication): Generator<SecurityProfileError> {
  const { securityProfile, jwks, grantTypes, redirectUris, refreshGraceSeconds } = application;
  if (securityProfile !== 'fapi2') return;
  if (!strongAuthenticationMethods.has(application.tokenEndpointAuthMethod ?? 'none')) {
    const methods = { anyOf: [...strongAuthenticationMethods] };
    yield { field: 'token_endpoint_auth_method', detail: translatable`must be ${{ methods }} if the security profile is fapi2` };
  }
  if (jwks?.keys.some((key) => 'alg' in key && key.alg === 'RS256') === true)
    yield { field: 'jwks', detail: 'must not contain an RS256 key if the security profile is fapi2' };
  if (grantTypes.includes(deviceCodeGrantType))
    yield { field: 'grant_types', detail: 'must not contain the device code grant if the security profile is fapi2' };
  if (redirectUris.some((uri) => !/^https?:/.test(uri)))
    yield { field: 'redirect_uris', detail: 'must be https or loopback URIs if the security profile is fapi2' };
  if ((refreshGraceSeconds ?? 0) > 0)
    yield { field: 'refresh_grace_seconds', detail: 'must be 0 or null if the security profile is fapi2' };
  for (const field of listPkceExceptionFields(application)) yield { field, detail: 'must be false if the security profile is fapi2' };
  if (application.idTokenSignedResponseAlg === 'RS256')
    yield { field: 'id_token_signed_response_alg', detail: 'must be ES256, PS256 or EdDSA if the security profile is fapi2' };
}
