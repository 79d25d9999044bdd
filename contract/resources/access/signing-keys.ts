import { initContract } from '@ts-rest/core';
import { z } from 'zod';
import { component } from '../../schema/named-schema.ts';
import { commonProblems, failuresOf, guarded, withBody, withIdempotencyKey } from '../../protocol/problems.ts';
import { describedBy, idempotencyHeaders } from '../../protocol/route-metadata.ts';
import { instant } from '../../schema/text.ts';

const c = initContract();
const fails = failuresOf(commonProblems);

export const signingKeyRotation = component(
  'SigningKeyRotation',
  z.object({
    made: z
      .number()
      .int()
      .min(0)
      .describe('Number of keys that were created; 0 if the next keys are already published and do not sign yet.'),
    signs_from: instant.describe('When the newest keys start, or started, to sign.'),
    previous_retire_at: instant.describe(
      'When the previous keys are no longer published; tokens signed with them are rejected from then on.',
    ),
  }),
);

export const signingKeyRotationCreate = component(
  'SigningKeyRotationCreate',
  z
    .object({
      at_once: z
        .boolean()
        .optional()
        .describe(
          'For a compromised key: the new keys sign immediately, and tokens signed with the previous keys are rejected within seconds. Applications need new tokens (default: false).',
        ),
    })
    .strict(),
);

export const signingKeys = c.router({
  rotate: {
    method: 'POST',
    path: '/signing-key-rotations',
    headers: idempotencyHeaders,
    body: signingKeyRotationCreate,
    summary: 'Rotate the signing keys',
    description:
      'Replaces the signing keys before their scheduled rotation. The new keys are published immediately and start to sign an hour later, so that no request fails. Requires an administrator.',
    responses: { 201: signingKeyRotation, ...fails(...guarded, ...withBody, ...withIdempotencyKey) },
    metadata: describedBy({ operationId: 'signingKeys.rotate', access: ['signing_keys.manage'], idempotent: true }),
  },
});
export type SigningKeyRotation = z.output<typeof signingKeyRotation>;
