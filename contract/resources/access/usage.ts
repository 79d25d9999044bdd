import { z } from 'zod';
import { withSchemaName } from '../../schema/openapi-schema-name.ts';
import { commonProblemTypes, declareProblemResponses, problemCodesOfPublicOperations } from '../../protocol/problems.ts';
import { defineResource } from '../../protocol/define-resource.ts';
import { declareRouteMetadata } from '../../protocol/route-metadata.ts';
import { timestampSchema } from '../../schema/text-timestamp-and-metadata-schemas.ts';

const fails = declareProblemResponses(commonProblemTypes);

const limit = withSchemaName(
  'UsageLimit',
  z.object({
    policy: z.string().describe('Name of the policy, as in the `RateLimit-Policy` header. More policies may be added.'),
    limit: z.number().int().min(1).describe('Maximum number of requests within the time window.'),
    window_seconds: z.number().int().min(1).describe('Length of the time window in seconds.'),
    remaining: z.number().int().min(0).describe('Number of requests that remain after the current one.'),
    resets_at: timestampSchema.describe('When the full limit is available again.'),
  }),
);

const month = withSchemaName(
  'UsageMonth',
  z.object({
    month: z
      .string()
      .regex(/^\d{4}-\d{2}$/)
      .describe('Calendar month in UTC, such as `2026-11`.'),
    requests: z.number().int().min(0).describe('Number of requests in the month.'),
  }),
);

export const usageRoutes = defineResource('Usage', 'API request counts and limits.', {
  get: {
    method: 'GET',
    path: '/usage',
    query: z.object({}).strict(),
    summary: 'Get your usage',
    description:
      'Returns the request limits and remaining requests of the calling application or API key, and its request count for each of the last twelve months, newest first. Any valid token is accepted.',
    responses: {
      200: withSchemaName('Usage', z.object({ client_id: z.string(), limits: z.array(limit).max(10), months: z.array(month).max(12) })),
      ...fails(...problemCodesOfPublicOperations, 'missing_token'),
    },
    metadata: declareRouteMetadata({ operationId: 'usage.get', access: 'token' }),
  },
});
export type Usage = z.output<(typeof usageRoutes.get.responses)[200]>;
