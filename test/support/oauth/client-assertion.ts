import { randomUUID } from 'node:crypto';
import type { Scope } from '@mandate/contract';
import { exportJWK, generateKeyPair, SignJWT, type CryptoKey, type JWK } from 'jose';
import { createApplication, type ApplicationInput } from '../../../server/applications/validate-and-create-application.ts';
import type { Database } from '../../../server/database/entity-manager/entity-manager-type.ts';

export type ClientKey = { readonly alg: string; readonly kid: string; readonly privateKey: CryptoKey; readonly jwk: JWK };

/** Creates a key pair for client authentication with `private_key_jwt`. */
export async function createClientKey(alg = 'ES256', kid = `key-${randomUUID()}`): Promise<ClientKey> {
  const { privateKey, publicKey } = await generateKeyPair(alg, { modulusLength: 2048 });
  return { alg, kid, privateKey, jwk: { ...(await exportJWK(publicKey)), kid, alg, use: 'sig' } };
}

/**
 * Creates a client assertion (RFC 7523 section 3) that is valid for a minute.
 * @param change claims to replace; the value `undefined` removes a claim
 */
export function createClientAssertion(
  { alg, kid, privateKey }: ClientKey,
  { clientId, audience }: { readonly clientId: string; readonly audience: string },
  change: Record<string, unknown> = {},
  header: Record<string, unknown> = {},
): Promise<string> {
  const now = Math.floor(Date.now() / 1000);
  const claims = { iss: clientId, sub: clientId, aud: audience, jti: randomUUID(), iat: now, exp: now + 60, ...change };
  return new SignJWT(JSON.parse(JSON.stringify(claims))).setProtectedHeader({ alg, kid, ...header }).sign(privateKey);
}

/** Returns the parameters with which a request presents a client assertion. */
export const toAssertionForm = (assertion: string): Record<string, string> => ({
  client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
  client_assertion: assertion,
});

/** Creates an application that authenticates with `private_key_jwt`. */
export async function createApplicationWithKeys(
  db: Database,
  keys: Pick<ApplicationInput, 'jwks' | 'jwksUri'>,
  { scopes = ['users.manage'] as readonly Scope[], ...input }: Partial<ApplicationInput> = {},
): Promise<string> {
  const clientId = `client-${randomUUID()}`;
  const method = { type: 'confidential', tokenEndpointAuthMethod: 'private_key_jwt' } as const;
  await createApplication(db.em.fork(), {
    clientId,
    name: 'Test application',
    grantTypes: ['client_credentials'],
    scopes,
    ...method,
    ...keys,
    ...input,
  });
  return clientId;
}
