import { z } from 'zod';
import { withSchemaName } from '../../schema/openapi-schema-name.ts';
import { commonProblemTypes, declareProblemResponses, problemCodesOfPublicOperations } from '../../protocol/problems.ts';
import { lengthLimitedTextSchema } from '../../schema/text-timestamp-and-metadata-schemas.ts';
import { defineResource } from '../../protocol/define-resource.ts';
import { declareRouteMetadata } from '../../protocol/route-metadata.ts';

export const paymentProviderWebhookProblemTypes = {
  invalid_signature: { status: 400, title: 'The signature is not valid' },
} as const;

const fails = declareProblemResponses({ ...commonProblemTypes, ...paymentProviderWebhookProblemTypes });

export const paymentProviderWebhookRoute = defineResource('Provider events', 'Webhooks for payment providers.', {
  receive: {
    method: 'POST',
    path: '/provider-events/:provider',
    pathParams: z.object({ provider: lengthLimitedTextSchema(32).describe('Name of the payment provider.') }),
    body: z.unknown(),
    summary: 'Receive events from a payment provider',
    description:
      'Webhook for payment providers. Each provider signs its events in its own format. The service first stores the event, and then fetches the current state from the provider.',
    responses: {
      200: withSchemaName(
        'ProviderEventReceipt',
        z.object({ received: z.number().int().min(0).describe('Number of events that had not been received before.') }),
      ),
      ...fails(...problemCodesOfPublicOperations, 'payload_too_large', 'unsupported_media_type', 'not_found', 'invalid_signature'),
    },
    metadata: declareRouteMetadata({
      operationId: 'providerEvents.receive',
      access: 'public',
      consumes: ['application/json'],
      internal: true,
    }),
  },
});
