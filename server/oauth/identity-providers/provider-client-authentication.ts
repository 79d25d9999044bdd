import type { webcrypto } from 'node:crypto';
import { importPKCS8, SignJWT } from 'jose';
import { ClientSecretBasic, ClientSecretPost, PrivateKeyJwt, type ClientAuth } from 'oauth4webapi';
import { decryptIdentityProviderCredential, findPrivateKeyAlgorithm } from '../../identity-providers/identity-provider-credential.ts';
import type { IdentityProviderRow } from '../../identity-providers/identity-provider.entity.ts';

/** Returns the client authentication that this server uses at a provider's token endpoint. */
export async function createProviderClientAuthentication(provider: IdentityProviderRow, key: Buffer, now: Date): Promise<ClientAuth> {
  const credential = decryptIdentityProviderCredential(provider, key);
  const { tokenEndpointAuthMethod: method, keyId } = provider;
  if (method === 'client_secret_basic') return ClientSecretBasic(credential);
  if (method === 'client_secret_post') return ClientSecretPost(credential);
  const privateKey = await importPrivateKey(credential);
  if (method === 'apple_client_secret') return ClientSecretPost(await createAppleClientSecret(provider, privateKey, now));
  return PrivateKeyJwt(keyId == null ? privateKey : { key: privateKey, kid: keyId });
}

const importPrivateKey = (pem: string): Promise<webcrypto.CryptoKey> => importPKCS8(pem, findPrivateKeyAlgorithm(pem) ?? '');

const appleSecretLifetimeSeconds = 5 * 60;

/** Returns the JWT that Apple accepts as the client secret. */
function createAppleClientSecret(
  { issuer, clientId, teamId, keyId }: IdentityProviderRow,
  key: webcrypto.CryptoKey,
  now: Date,
): Promise<string> {
  const issuedAt = Math.floor(now.getTime() / 1000);
  return new SignJWT({})
    .setProtectedHeader({ alg: 'ES256', kid: keyId ?? '' })
    .setIssuer(teamId ?? '')
    .setSubject(clientId)
    .setAudience(issuer)
    .setIssuedAt(issuedAt)
    .setExpirationTime(issuedAt + appleSecretLifetimeSeconds)
    .sign(key);
}
