import { createPrivateKey, type KeyObject } from 'node:crypto';
import { decryptText, encryptText } from '../crypto/authenticated-encryption.ts';
import type { IdentityProviderRow } from './identity-provider.entity.ts';

const encryptionContext = (slug: string): string => `credential for identity provider ${slug}`;

/** Encrypts the client secret or private key that the server uses to authenticate to a provider. */
export const encryptIdentityProviderCredential = (credential: string, slug: string, key: Buffer): string =>
  encryptText(credential, key, encryptionContext(slug));

/** Decrypts the client secret or private key that the server uses to authenticate to a provider. */
export function decryptIdentityProviderCredential({ slug, sealedCredential }: IdentityProviderRow, key: Buffer): string {
  const credential = decryptText(sealedCredential, key, encryptionContext(slug));
  if (credential === undefined) throw new Error('the credential of an identity provider was encrypted with another key');
  return credential;
}

/** Returns whether the server authenticates with a private key instead of a client secret. */
export const usesPrivateKey = (method: IdentityProviderRow['tokenEndpointAuthMethod']): boolean =>
  method === 'private_key_jwt' || method === 'apple_client_secret';

/** JWS algorithms by private key type. RSA keys sign with RS256, which every provider supports (OpenID Connect Core section 15.1). */
const algorithmsByKeyType: Readonly<Record<string, string>> = { ec: 'ES256', rsa: 'RS256', ed25519: 'EdDSA' };

/**
 * Returns the algorithm for signing client assertions with a private key.
 * @returns undefined if the text is not a supported private key
 */
export function findPrivateKeyAlgorithm(pem: string): string | undefined {
  const key = parsePrivateKey(pem);
  const { namedCurve, modulusLength = 0 } = key?.asymmetricKeyDetails ?? {};
  if (key?.asymmetricKeyType === 'ec' && namedCurve !== 'prime256v1') return undefined;
  if (key?.asymmetricKeyType === 'rsa' && modulusLength < 2048) return undefined;
  return algorithmsByKeyType[key?.asymmetricKeyType ?? ''];
}

function parsePrivateKey(pem: string): KeyObject | undefined {
  if (!pem.trimStart().startsWith('-----BEGIN PRIVATE KEY-----')) return undefined;
  try {
    return createPrivateKey(pem);
  } catch {
    return undefined;
  }
}
