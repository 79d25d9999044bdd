import type { contract, RegistrationToken, SecretRotation } from '@mandate/contract';
import type { getClientAddressAndUserAgent } from '../audit/record-audit-event.ts';
import type { EntityManager } from '../database/entity-manager/entity-manager-type.ts';
import { createResourceIdempotently } from '../http/writes/idempotency.ts';
import { createProblem } from '../http/problem-details/problem.ts';
import type { HandlerDependencies } from '../http/routing/handler-dependencies.ts';
import type { RouteHandler } from '../http/routing/route-handler-type.ts';
import { oauthEndpointPaths } from '../oauth/protocol/endpoint-paths-and-audiences.ts';
import { getApplicationPath, auditApplicationChange } from '../applications/audit-application-change.ts';
import { getClientAuthenticationMethod, type ClientAuthenticationMethod } from '../applications/client-authentication-method-and-keys.ts';
import { hashClientSecret, generateClientSecret } from '../applications/client-secret.ts';
import { createRegistrationToken } from './create-registration-token.ts';
import { lockApplicationRow } from './validate-lock-and-update-application.ts';

const daySeconds = 24 * 60 * 60;
export const handleRotateApplicationSecret: RouteHandler<typeof contract.applications.rotateSecret, HandlerDependencies> = (
  { em },
  { params: { application_id: id }, body, req, res },
) => {
  const until = new Date(Date.now() + (body.overlap_seconds ?? daySeconds) * 1000);
  return createResourceIdempotently(
    em,
    req,
    res,
    async (inner): Promise<SecretRotation> => ({
      client_secret: await rotateSecret(inner, req, id, until),
      previous_secret_expires_at: until.toISOString(),
    }),
    () => getApplicationPath(id),
  );
};

export const handleCreateRegistrationToken: RouteHandler<typeof contract.applications.createRegistrationToken, HandlerDependencies> = (
  { em },
  { body, req, res },
) =>
  createResourceIdempotently(
    em,
    req,
    res,
    async (inner): Promise<RegistrationToken> => {
      const { token, expiresAt } = await createRegistrationToken(inner, body.expires_in ?? daySeconds, new Date());
      return { initial_access_token: token, expires_at: expiresAt.toISOString() };
    },
    () => oauthEndpointPaths.registration,
  );

const reasonsForNoSecret: { readonly [Method in ClientAuthenticationMethod]?: string } = {
  none: 'A public application has no secret.',
  private_key_jwt: 'An application that authenticates with private_key_jwt has no secret. To replace its keys, change jwks or jwks_uri.',
  tls_client_auth:
    'An application that authenticates with tls_client_auth has no secret. Its certificate authority issues a new certificate.',
  self_signed_tls_client_auth:
    'An application that authenticates with self_signed_tls_client_auth has no secret. To replace its certificate, change jwks.',
};

async function rotateSecret(
  em: EntityManager,
  req: Parameters<typeof getClientAddressAndUserAgent>[0],
  id: number,
  previousUntil: Date,
): Promise<string> {
  const secret = generateClientSecret();
  const application = await lockApplicationRow(em, id);
  const reason = reasonsForNoSecret[getClientAuthenticationMethod(application)];
  if (reason !== undefined) throw createProblem('application_has_no_secret', { detail: reason });
  application.rotateSecret(hashClientSecret(secret), previousUntil);
  await em.flush();
  await auditApplicationChange(em, req, 'application.secret_rotated', application.clientId);
  return secret;
}
