import * as oauth from 'oauth4webapi';
import type { ClientAuthentication } from './authorization-server-metadata.ts';

/** The `CryptoKey` type, inferred from a function because platforms declare it under different names. */
type PrivateKey = Parameters<typeof crypto.subtle.sign>[1];

export type ClientKeyAlgorithm = 'ES256' | 'PS256' | 'EdDSA';

export type PrivateKeyJwtOptions = {
  /** Private key of the application, with the usage `sign`, for example from `importClientKey`. */
  readonly privateKey: PrivateKey;
  /** Key ID of the registered public key (`kid`). Required if the application has several keys of the same type. */
  readonly keyId?: string | undefined;
};

/**
 * Returns client authentication with a private key (`private_key_jwt`, RFC 7523), to use instead of `clientSecret`. Each request contains a
 * new JWT that is signed with the private key. Use this function only on servers, where the key stays secret.
 */
export const privateKeyJwt = ({ privateKey, keyId }: PrivateKeyJwtOptions): ClientAuthentication =>
  oauth.PrivateKeyJwt(keyId === undefined ? privateKey : { key: privateKey, kid: keyId });

const importParameters = {
  ES256: { name: 'ECDSA', namedCurve: 'P-256' },
  PS256: { name: 'RSA-PSS', hash: 'SHA-256' },
  EdDSA: { name: 'Ed25519' },
} as const;

const pemPattern = /^\s*-----BEGIN PRIVATE KEY-----([A-Za-z0-9+/=\s]+)-----END PRIVATE KEY-----\s*$/;

/**
 * Imports a private key from PEM text in PKCS #8 format, such as the output of
 * `openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256`. The imported key cannot be exported.
 * @throws {TypeError} if the text is not an unencrypted private key in this format
 */
export async function importClientKey(pem: string, algorithm: ClientKeyAlgorithm): Promise<PrivateKey> {
  const base64 = pemPattern.exec(pem)?.[1];
  if (base64 === undefined)
    throw new TypeError('The key must be one PEM block that begins with -----BEGIN PRIVATE KEY----- (PKCS #8, without a passphrase)');
  const der = Uint8Array.from(atob(base64.replaceAll(/\s/g, '')), (character) => character.charCodeAt(0));
  return crypto.subtle.importKey('pkcs8', der, importParameters[algorithm], false, ['sign']);
}
