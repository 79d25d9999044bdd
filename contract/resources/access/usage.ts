import { initContract } from '@ts-rest/core';
import { z } from 'zod';
import { component } from '../../schema/named-schema.ts';
import { commonProblems, failuresOf, open } from '../../protocol/problems.ts';
import { describedBy } from '../../protocol/route-metadata.ts';
import { instant } from '../../schema/text.ts';

const c = initContract();
const fails = failuresOf(commonProblems);

const limit = component(
  'UsageLimit',
  z.object({
    policy: z.string().describe('What `RateLimit-Policy` calls it. More may be added.'),
    limit: z.number().int().min(1).describe('How many requests.'),
    window_seconds: z.number().int().min(1).describe('In how many seconds.'),
    remaining: z.number().int().min(0).describe('How many are left, this one counted already.'),
    resets_at: instant.describe('When all of them are there again.'),
  }),
);

const month = component(
  'UsageMonth',
  z.object({
    month: z
      .string()
      .regex(/^\d{4}-\d{2}$/)
      .describe('The calendar month in UTC: `2026-11`.'),
    requests: z.number().int().min(0).describe('How many requests counted.'),
  }),
);

export const usage = c.router({
  get: {
    method: 'GET',
    path: '/usage',
    query: z.object({}).strict(),
    summary: 'Get your usage',
    description:
      'What the application or API key that asks has left of its limits, and how many requests it made in the last twelve months, newest first. Any token will do.',
    responses: {
      200: component('Usage', z.object({ client_id: z.string(), limits: z.array(limit).max(10), months: z.array(month).max(12) })),
      ...fails(...open, 'missing_token'),
    },
    metadata: describedBy({ operationId: 'usage.get', access: 'token' }),
  },
});
export type Usage = z.output<(typeof usage.get.responses)[200]>;
