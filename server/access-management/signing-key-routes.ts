import { initServer } from '@ts-rest/express';
import { contract, type SigningKeyRotation } from '@mandate/contract';
import { sourceOf } from '../audit/record-audit-event.ts';
import { once } from '../http/writes/idempotency.ts';
import { principalOf } from '../http/request/request-context.ts';
import type { ResourceDeps } from '../http/routing/handler-dependencies.ts';
import { endpoints } from '../oauth/protocol/endpoints.ts';
import { newSigningKeys, putSigningKeys } from '../oauth/signing-keys/rotate-signing-keys.ts';

export const signingKeyRoutes = ({ em, signingKeys }: ResourceDeps) =>
  initServer().router(contract.signingKeys, {
    rotate: async ({ body, req, res }) => {
      const { user, clientId } = principalOf(req);
      const made = await newSigningKeys(signingKeys.encryptionKey); // key generation is slow, so it runs before the transaction
      const by = { source: sourceOf(req), actorId: user?.id, clientId };
      const response = await once(
        em,
        req,
        res,
        async (inner): Promise<SigningKeyRotation> => {
          const rotation = await putSigningKeys(inner, made, new Date(), { when: body.at_once === true ? 'at once' : 'asked', by });
          return {
            made: rotation.made,
            signs_from: rotation.signsFrom.toISOString(),
            previous_retire_at: rotation.previousRetireAt.toISOString(),
          };
        },
        () => endpoints.jwks,
      );
      signingKeys.readAgain();
      return response;
    },
  });
