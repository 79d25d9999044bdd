import { initServer } from '@ts-rest/express';
import { contract, type SigningKeyRotation } from '@mandate/contract';
import { getClientAddressAndUserAgent } from '../audit/record-audit-event.ts';
import { createResourceIdempotently } from '../http/writes/idempotency.ts';
import { requirePrincipal } from '../http/request/request-context-principal-and-access-log.ts';
import type { HandlerDependencies } from '../http/routing/handler-dependencies.ts';
import type { RouteHandler } from '../http/routing/route-handler-type.ts';
import { oauthEndpointPaths } from '../oauth/protocol/endpoint-paths-and-audiences.ts';
import { generateSigningKeys, insertDueSigningKeysAndRetirePrevious } from '../oauth/signing-keys/rotate-signing-keys.ts';

export const signingKeyRotationRoute = (dependencies: HandlerDependencies) =>
  initServer().router(contract.signingKeys, {
    rotate: (request) => handleRotateSigningKeys(dependencies, request),
  });

const handleRotateSigningKeys: RouteHandler<typeof contract.signingKeys.rotate, HandlerDependencies> = async (
  { em, signingKeys },
  { body, req, res },
) => {
  const { user, clientId } = requirePrincipal(req);
  const made = await generateSigningKeys(signingKeys.encryptionKey); // key generation is slow, so it runs before the transaction
  const by = { source: getClientAddressAndUserAgent(req), actorId: user?.id, clientId };
  const response = await createResourceIdempotently(
    em,
    req,
    res,
    async (inner): Promise<SigningKeyRotation> => {
      const rotation = await insertDueSigningKeysAndRetirePrevious(inner, made, new Date(), {
        when: body.at_once === true ? 'at once' : 'asked',
        by,
      });
      return {
        made: rotation.made,
        signs_from: rotation.signsFrom.toISOString(),
        previous_retire_at: rotation.previousRetireAt.toISOString(),
      };
    },
    () => oauthEndpointPaths.jwks,
  );
  signingKeys.readAgain();
  return response;
};
