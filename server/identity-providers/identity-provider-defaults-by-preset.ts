import type { IdentityProvider } from '@mandate/contract';
import { offlineAccessScope } from './provider-scopes-and-account-check-interval.ts';

type Preset = IdentityProvider['preset'];
type PresetDefaults = {
  readonly name: string;
  /** The issuer; undefined if the administrator must specify it. */
  readonly issuer: string | undefined;
  readonly tokenEndpointAuthMethod: IdentityProvider['token_endpoint_auth_method'];
  readonly scopes: readonly string[];
};

/** Default values of a new provider, by preset. */
export const identityProviderDefaultsByPreset: Readonly<Record<Preset, PresetDefaults>> = {
  google: {
    name: 'Google',
    issuer: 'https://accounts.google.com',
    tokenEndpointAuthMethod: 'client_secret_basic',
    scopes: ['openid', 'email', 'profile', offlineAccessScope],
  },
  apple: {
    name: 'Apple',
    issuer: 'https://appleid.apple.com',
    tokenEndpointAuthMethod: 'apple_client_secret',
    scopes: ['openid', 'email', 'name', offlineAccessScope],
  },
  microsoft: {
    name: 'Microsoft',
    issuer: undefined,
    tokenEndpointAuthMethod: 'client_secret_post',
    scopes: ['openid', 'email', 'profile', offlineAccessScope],
  },
  oidc: {
    name: 'OpenID Connect',
    issuer: undefined,
    tokenEndpointAuthMethod: 'client_secret_basic',
    scopes: ['openid', 'email', 'profile'],
  },
};
