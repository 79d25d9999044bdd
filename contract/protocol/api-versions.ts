import { z } from 'zod';
import { withSchemaName } from '../schema/openapi-schema-name.ts';
import { extensibleEnumSchema } from '../schema/extensible-enum.ts';
import { paginationParametersWithDefaultLimit100, listPageSchema } from '../schema/pagination.ts';
import { commonProblemTypes, declareProblemResponses, problemCodesOfPublicOperations, cursorProblemCodes } from './problems.ts';
import { defineResource } from './define-resource.ts';
import { declareRouteMetadata, type Deprecation } from './route-metadata.ts';
import { timestampSchema } from '../schema/text-timestamp-and-metadata-schemas.ts';

const fails = declareProblemResponses(commonProblemTypes);

/** An API version, served under its own path. */
export type ApiVersion = {
  readonly name: `v${number}`;
  /** A preview may change at any time, and is served only if the installation enables it. */
  readonly preview?: boolean;
  readonly deprecated?: Deprecation;
};

/** All versions that can be served, oldest first. docs/versioning.md describes their guarantees. */
export const apiVersions: readonly ApiVersion[] = [{ name: 'v1' }, { name: 'v2', preview: true }];

/** The version that serves requests whose path contains no version: the newest version that is not a preview. */
export const currentApiVersion = 'v1';

const version = withSchemaName(
  'ApiVersion',
  z.object({
    version: z.string().describe('Version as it appears in paths, such as `v1`.'),
    status: extensibleEnumSchema(['preview', 'current', 'supported', 'deprecated', 'retired']).describe(
      'Status of the version. The `current` version handles requests whose path contains no version, a `preview` version may change at any time, and a `retired` version returns 410.',
    ),
    deprecated_at: timestampSchema.nullable().describe('When the version was or will be deprecated.'),
    sunset_at: timestampSchema.nullable().describe('When the version is retired.'),
  }),
);

export const apiVersionRoutes = defineResource('Versions', 'Versions of the API.', {
  list: {
    method: 'GET',
    path: '/api',
    query: z.object(paginationParametersWithDefaultLimit100).strict(),
    summary: 'List API versions',
    description: 'Returns the versions of the API. Every API response states the API version in the `Mandate-Version` header.',
    responses: { 200: listPageSchema('ApiVersionList', version), ...fails(...problemCodesOfPublicOperations, ...cursorProblemCodes) },
    metadata: declareRouteMetadata({ operationId: 'versions.list', access: 'public' }),
  },
});
export type ApiVersionResponse = z.output<typeof version>;
