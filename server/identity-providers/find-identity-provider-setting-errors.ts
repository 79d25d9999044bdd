import { findUrlRejectionReason } from '../outgoing-http/check-public-url.ts';
import { findPrivateKeyAlgorithm, usesPrivateKey } from './identity-provider-credential.ts';
import type { IdentityProviderRow } from './identity-provider.entity.ts';

export type IdentityProviderFields = Pick<
  IdentityProviderRow,
  | 'preset'
  | 'issuer'
  | 'tokenEndpointAuthMethod'
  | 'scopes'
  | 'audience'
  | 'createsAccounts'
  | 'requiredForStaff'
  | 'keyId'
  | 'teamId'
  | 'breakGlassUser'
>;

/** Client secret and private key, if the request contains them. */
export type GivenCredentials = { readonly client_secret?: string | undefined; readonly private_key?: string | undefined };

export type IdentityProviderError = { readonly field: string; readonly detail: string };

/**
 * Yields the errors in a provider's fields, including contradictions between fields.
 * @param storedMethod authentication method whose credential is already stored; undefined for a new provider
 * @param development whether issuers on this machine may use HTTP
 */
export function* findIdentityProviderSettingErrors(
  fields: IdentityProviderFields,
  given: GivenCredentials,
  storedMethod: IdentityProviderRow['tokenEndpointAuthMethod'] | undefined,
  development: boolean,
): Generator<IdentityProviderError> {
  const { issuer, scopes, audience } = fields;
  const rejectionReason = findUrlRejectionReason(issuer, development, 'https://login.example.com');
  if (rejectionReason !== undefined) yield { field: 'issuer', detail: `The URL ${rejectionReason}.` };
  else if (issuer.includes('?')) yield { field: 'issuer', detail: 'The URL must not contain a query string.' };
  if (!scopes.includes('openid')) yield { field: 'scopes', detail: 'Must include openid.' };
  if (audience === 'staff' && fields.createsAccounts)
    yield { field: 'creates_accounts', detail: 'Must be false if the audience is staff, because new accounts are customer accounts.' };
  if (audience === 'customers' && fields.requiredForStaff)
    yield { field: 'required_for_staff', detail: 'Must be false if the audience is customers.' };
  if (fields.requiredForStaff && fields.breakGlassUser == null)
    yield { field: 'break_glass_user_id', detail: 'Must be set if required_for_staff is true.' };
  yield* findCredentialErrors(fields, given, storedMethod);
}

function* findCredentialErrors(
  { preset, tokenEndpointAuthMethod: method, keyId, teamId }: IdentityProviderFields,
  { client_secret: clientSecret, private_key: privateKey }: GivenCredentials,
  storedMethod: IdentityProviderRow['tokenEndpointAuthMethod'] | undefined,
): Generator<IdentityProviderError> {
  const needsKey = usesPrivateKey(method);
  const isStored = storedMethod !== undefined && usesPrivateKey(storedMethod) === needsKey;
  if ((preset === 'apple') !== (method === 'apple_client_secret'))
    yield { field: 'token_endpoint_auth_method', detail: 'Apple requires apple_client_secret, and no other provider accepts it.' };
  if (!needsKey) {
    if (privateKey !== undefined) yield { field: 'private_key', detail: `Must not be set with ${method}.` };
    if (clientSecret === undefined && !isStored) yield { field: 'client_secret', detail: `Must be set for ${method}.` };
    return;
  }
  if (clientSecret !== undefined) yield { field: 'client_secret', detail: `Must not be set with ${method}.` };
  if (privateKey === undefined && !isStored) yield { field: 'private_key', detail: `Must be set for ${method}.` };
  if (keyId == null) yield { field: 'key_id', detail: `Must be set for ${method}.` };
  if (method === 'apple_client_secret' && teamId == null) yield { field: 'team_id', detail: `Must be set for ${method}.` };
  if (privateKey === undefined) return;
  const algorithm = findPrivateKeyAlgorithm(privateKey);
  if (algorithm === undefined || (method === 'apple_client_secret' && algorithm !== 'ES256'))
    yield { field: 'private_key', detail: 'Must be a P-256, Ed25519 or RSA key (P-256 for Apple) in PKCS #8 PEM format.' };
}
