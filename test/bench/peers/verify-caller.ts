import { createLocalJWKSet, jwtVerify, type JSONWebKeySet } from 'jose';
import { z } from 'zod';

/** A peer server's environment variables. */
export const settings = z
  .object({ PORT: z.coerce.number(), DATABASE_URL: z.string(), JWKS: z.string(), ISSUER: z.string() })
  // oxlint-disable-next-line node/no-process-env -- this process receives its settings through the environment
  .parse(process.env);

// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- our server has published this document
const keys = createLocalJWKSet(JSON.parse(settings.JWKS) as JSONWebKeySet);

const claims = z
  .object({ client_id: z.string(), scope: z.string(), sub: z.string() })
  // The subject of a token without a user is the client.
  .transform(({ sub, ...others }) => ({ ...others, userId: /^\d+$/.test(sub) ? Number(sub) : undefined }));

/** Verifies the bearer token's signature, issuer and expiry, but does not check for revocation. */
export async function verifyCaller(authorization: string | undefined): Promise<z.infer<typeof claims>> {
  const { payload } = await jwtVerify(authorization?.replace(/^Bearer /, '') ?? '', keys, { issuer: settings.ISSUER });
  return claims.parse(payload);
}
