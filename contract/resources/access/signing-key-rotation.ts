import { z } from 'zod';
import { withSchemaName } from '../../schema/openapi-schema-name.ts';
import { commonProblemTypes, declareProblemResponses, problemCodesOfAuthorizedPosts } from '../../protocol/problems.ts';
import { defineResource } from '../../protocol/define-resource.ts';
import { declareRouteMetadata, idempotencyHeadersSchema } from '../../protocol/route-metadata.ts';
import { timestampSchema } from '../../schema/text-timestamp-and-metadata-schemas.ts';

const fails = declareProblemResponses(commonProblemTypes);

export const signingKeyRotationSchema = withSchemaName(
  'SigningKeyRotation',
  z.object({
    made: z
      .number()
      .int()
      .min(0)
      .describe('Number of keys that were created; 0 if the next keys have already been published but are not yet used to sign tokens.'),
    signs_from: timestampSchema.describe('When the server starts signing tokens with the newest keys.'),
    previous_retire_at: timestampSchema.describe(
      'Time after which the previous keys are no longer published. Tokens signed with these keys are rejected from then on.',
    ),
  }),
);

export const signingKeyRotationCreateSchema = withSchemaName(
  'SigningKeyRotationCreate',
  z
    .object({
      at_once: z
        .boolean()
        .optional()
        .describe(
          'Whether to replace the key immediately, for example because it has been compromised (default: false). Tokens signed with the previous keys are rejected within seconds, so applications need new tokens.',
        ),
    })
    .strict(),
);

export const signingKeyRotationRoute = defineResource('Signing keys', 'Keys that sign tokens.', {
  rotate: {
    method: 'POST',
    path: '/signing-key-rotations',
    headers: idempotencyHeadersSchema,
    body: signingKeyRotationCreateSchema,
    summary: 'Rotate the signing keys',
    description:
      'Replaces the signing keys before their scheduled rotation. The new keys are published immediately, but are not used for signing until an hour later, so that no requests fail. Requires an administrator account.',
    responses: {
      201: signingKeyRotationSchema,
      ...fails(...problemCodesOfAuthorizedPosts),
    },
    metadata: declareRouteMetadata({ operationId: 'signingKeys.rotate', access: ['signing_keys.manage'], idempotent: true }),
  },
});
export type SigningKeyRotation = z.output<typeof signingKeyRotationSchema>;
