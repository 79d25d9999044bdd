import { SignJWT } from 'jose';
import type { ClientKey } from '../oauth/client-assertion.ts';

/**
 * Creates a signed request object (RFC 9101) that is valid for a minute.
 * @param parameters the authorization request's parameters, including `client_id`
 * @param change claims to replace; the value `undefined` removes a claim
 */
export function createRequestObject(
  { alg, kid, privateKey }: ClientKey,
  audience: string,
  parameters: Readonly<Record<string, unknown>>,
  change: Readonly<Record<string, unknown>> = {},
  header: Readonly<Record<string, unknown>> = {},
): Promise<string> {
  const now = Math.floor(Date.now() / 1000);
  const claims = { ...parameters, iss: parameters['client_id'], aud: audience, iat: now, nbf: now, exp: now + 60, ...change };
  const protectedHeader = { alg, kid, typ: 'oauth-authz-req+jwt', ...header };
  return new SignJWT(JSON.parse(JSON.stringify(claims))).setProtectedHeader(protectedHeader).sign(privateKey);
}
