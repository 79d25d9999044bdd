import type { clientAuthenticationMethods, PublicJsonWebKey } from '@mandate/contract';
import { findUrlRejectionReason } from '../outgoing-http/check-public-url.ts';
import { parsePublicJwk, UnusableJwkError } from './parse-public-jwk.ts';

export type ClientAuthenticationMethod = (typeof clientAuthenticationMethods)[number];

/** A JSON Web Key Set that has not been validated. */
export type UncheckedJwks = { readonly keys: readonly object[] };
export type PublicJwks = { readonly keys: readonly PublicJsonWebKey[] };

type Keys<Jwks> = { readonly jwks?: Jwks | null | undefined; readonly jwksUri?: string | null | undefined };
type ApplicationType = { readonly type: 'public' | 'confidential' };

/** Returns how an application authenticates. Only an application with `private_key_jwt` has keys. */
export const getClientAuthenticationMethod = ({ type, jwks, jwksUri }: ApplicationType & Keys<unknown>): ClientAuthenticationMethod =>
  type === 'public' ? 'none' : jwks == null && jwksUri == null ? 'client_secret_basic' : 'private_key_jwt';

export type ClientAuthenticationInput = ApplicationType &
  Keys<UncheckedJwks> & {
    /** Requested method (default: without authentication for a public application, with a secret for a confidential one). */
    readonly tokenEndpointAuthMethod?: ClientAuthenticationMethod | undefined;
  };

type ClientAuthenticationError = {
  readonly field: 'token_endpoint_auth_method' | 'jwks' | 'jwks_uri';
  readonly detail: string;
};

/** Yields the violations of the rules for the authentication method and the keys of an application. */
export function* findClientAuthenticationErrors(input: ClientAuthenticationInput): Generator<ClientAuthenticationError> {
  const { type, jwks, jwksUri } = input;
  const method = input.tokenEndpointAuthMethod ?? getClientAuthenticationMethod({ type });
  if ((method === 'none') !== (type === 'public'))
    yield { field: 'token_endpoint_auth_method', detail: `must ${type === 'public' ? '' : 'not '}be none for a ${type} application` };
  const given = ([jwks != null && 'jwks', jwksUri != null && 'jwks_uri'] as const).filter((field) => field !== false);
  if (method !== 'private_key_jwt') {
    for (const field of given) yield { field, detail: 'requires token_endpoint_auth_method to be private_key_jwt' };
  } else if (given.length === 0) {
    yield { field: 'jwks', detail: 'is required for private_key_jwt, unless jwks_uri is given' };
  } else if (given.length === 2) {
    yield { field: 'jwks_uri', detail: 'must not be combined with jwks' };
  }
  if (jwks != null) yield* findJwksErrors(jwks);
  const reason = jwksUri == null ? undefined : findUrlRejectionReason(jwksUri, false, 'https://example.com/jwks.json');
  if (reason !== undefined) yield { field: 'jwks_uri', detail: reason };
}

function* findJwksErrors({ keys }: UncheckedJwks): Generator<ClientAuthenticationError> {
  for (const [position, key] of keys.entries()) {
    try {
      parsePublicJwk(key);
    } catch (error) {
      if (!(error instanceof UnusableJwkError)) throw error;
      yield { field: 'jwks', detail: `has an unusable key: the key at position ${position + 1} ${error.message}` };
    }
  }
}

/** Returns the keys of a valid key set with only the members that the server uses. */
export const toPublicJwks = ({ keys }: UncheckedJwks): PublicJwks => ({ keys: keys.map(parsePublicJwk) });
