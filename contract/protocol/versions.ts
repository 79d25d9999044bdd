import { initContract } from '@ts-rest/core';
import { z } from 'zod';
import { component } from '../schema/named-schema.ts';
import { openEnum } from '../schema/open-enum.ts';
import { completePageQuery, page } from '../schema/pagination.ts';
import { commonProblems, failuresOf, open, withCursor } from './problems.ts';
import { describedBy, type Deprecation } from './route-metadata.ts';
import { instant } from '../schema/text.ts';

const c = initContract();
const fails = failuresOf(commonProblems);

/** A version of the API: everything below one path. */
export type ApiVersion = {
  readonly name: `v${number}`;
  /** A preview may change at any time, and is there only where the installation turns it on. */
  readonly preview?: boolean;
  readonly deprecated?: Deprecation;
};

/** Every version that is served, the oldest first; docs/versioning.md says what they promise. */
export const apiVersions: readonly ApiVersion[] = [{ name: 'v1' }, { name: 'v2', preview: true }];

/** The version that paths without one mean: the newest that is no preview. */
export const currentApiVersion = 'v1';

const version = component(
  'ApiVersion',
  z.object({
    version: z.string().describe('As it stands in paths: `v1`.'),
    status: openEnum(['preview', 'current', 'supported', 'deprecated', 'retired']).describe(
      '`current` is what paths without a version mean; a `preview` may change at any time; a `retired` one answers 410.',
    ),
    deprecated_at: instant.nullable().describe('From when on it should not be used for anything new.'),
    sunset_at: instant.nullable().describe('When it ends.'),
  }),
);

export const versions = c.router({
  list: {
    method: 'GET',
    path: '/api',
    query: z.object(completePageQuery).strict(),
    summary: 'List the versions of the API',
    description: 'Every answer names the version it is of in `Mandate-Version`.',
    responses: { 200: page('ApiVersionList', version), ...fails(...open, ...withCursor) },
    metadata: describedBy({ operationId: 'versions.list', access: 'public' }),
  },
});
export type ApiVersionAnswer = z.output<typeof version>;
