import { createLocalJWKSet, jwtVerify, type JSONWebKeySet } from 'jose';
import { z } from 'zod';

/** What a peer is told by its environment. */
export const settings = z
  .object({ PORT: z.coerce.number(), DATABASE_URL: z.string(), JWKS: z.string(), ISSUER: z.string() })
  // oxlint-disable-next-line node/no-process-env -- a process of its own, whose environment is all it is given
  .parse(process.env);

// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what our own server published a moment ago
const keys = createLocalJWKSet(JSON.parse(settings.JWKS) as JSONWebKeySet);

const claims = z.object({ client_id: z.string(), scope: z.string() });

/** Signature, issuer and expiry of the bearer token; not whether it was revoked since. */
export async function verifiedCaller(authorization: string | undefined): Promise<z.infer<typeof claims>> {
  const { payload } = await jwtVerify(authorization?.replace(/^Bearer /, '') ?? '', keys, { issuer: settings.ISSUER });
  return claims.parse(payload);
}
