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
    made: z.number().int().min(0).describe('How many keys were made: none when the next ones are published already, and have yet to sign.'),
    signs_from: instant.describe('When the newest keys sign, or began to.'),
    previous_retire_at: instant.describe('When the keys before them are no longer published, and what they signed is refused.'),
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
          'For when a key has become known: the new keys sign at once, and within seconds whatever the others signed is refused. Applications need a new token.',
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
      'They follow each other by themselves; this is for when one should go before its time. New keys are published first and sign an hour later, so that no request fails. For administrators.',
    responses: { 201: signingKeyRotation, ...fails(...guarded, ...withBody, ...withIdempotencyKey) },
    metadata: describedBy({ operationId: 'signingKeys.rotate', access: ['signing_keys.manage'], idempotent: true }),
  },
});
export type SigningKeyRotation = z.output<typeof signingKeyRotation>;
