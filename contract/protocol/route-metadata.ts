import { extendApi } from '@anatine/zod-openapi';
import { isAppRoute, type AppRoute, type AppRouter } from '@ts-rest/core';
import { z } from 'zod';
import type { ResourceTag } from './define-resource.ts';
import type { Scope } from './scopes.ts';

/** Deprecation of an operation or API version. Timestamps are in RFC 3339 format and in UTC, such as `2027-01-31T00:00:00Z`. */
export type Deprecation = {
  readonly since: string;
  /** End of support. After this time, the API responds with 410. Must not be before `since`. */
  readonly sunset?: string;
  /** Migration guide: an absolute URL, or a path on this service. */
  readonly guide: string;
};

/** Properties of a route that its schemas cannot express. */
export type RouteMetadata = {
  /** Added by `defineResource`. */
  readonly tag?: ResourceTag;
  /** Name of the SDK method, and `operationId` in the OpenAPI document. */
  readonly operationId: string;
  /**
   * Scopes, any one of which is sufficient. `token` requires a token with any scope; `public` requires no token.
   * The handlers decide which individual resources the caller can access.
   */
  readonly access: 'public' | 'token' | readonly [Scope, ...Scope[]];
  /**
   * Whether the operation accepts an `Idempotency-Key`. Every POST operation accepts this header, except those listed in
   * `test/support/api-assertions/replay-assertions.ts`.
   */
  readonly idempotent?: boolean;
  /** Response field that contains a secret (`secretShownOnceSchema`), which is neither stored nor replayed. */
  readonly secret?: string;
  /**
   * Whether the response has the ETag of the created resource. This flag is not needed if the operation accepts `If-Match` or
   * `If-None-Match`.
   */
  readonly returnsEtag?: boolean;
  /** Maximum body size in bytes (default: `defaultMaxBodyBytes`), or `Infinity` for files. */
  readonly bodyMax?: number;
  /** Media types of a body that is not JSON. The handler reads such a body directly from the request stream. */
  readonly consumes?: readonly [string, ...string[]];
  /** Media types of the response, if it is not JSON. */
  readonly produces?: readonly string[];
  readonly deprecated?: Deprecation;
  /** Whether only external systems call the operation, with requests in their own format. The SDK has no method for such an operation. */
  readonly internal?: boolean;
};

/** Default maximum body size, in bytes. */
export const defaultMaxBodyBytes = 100_000;

/** Declares a route's metadata with its literal types. */
export const declareRouteMetadata = <const Metadata extends RouteMetadata>(metadata: Metadata): Metadata => metadata;

/** Returns a route's metadata. Throws if the route has no metadata. */
export function getRouteMetadata(route: AppRoute): RouteMetadata {
  const { metadata } = route;
  if (typeof metadata !== 'object' || metadata === null || !('operationId' in metadata) || !('access' in metadata)) {
    throw new Error(`${route.method} ${route.path} has no metadata`);
  }
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- ts-rest types metadata as unknown; declareRouteMetadata() creates it
  return metadata as RouteMetadata;
}

/** Returns all routes of a router in declaration order. */
export const listRoutes = (router: AppRouter | AppRoute): AppRoute[] =>
  isAppRoute(router) ? [router] : Object.values(router).flatMap(listRoutes);

/** Headers for an idempotent POST. The format of the key is checked separately, so that an invalid key has its own problem code. */
export const idempotencyHeadersSchema = z.object({
  'idempotency-key': extendApi(z.string().optional(), { minLength: 1, maxLength: 255 }).describe(
    'A unique key that makes the request safe to retry: 1 to 255 characters from `A-Z a-z 0-9 . _ : -`. For 24 hours, repeating the request with the same key returns the first response again, with `Idempotent-Replayed: true`. Secrets are `null` in such a replay.',
  ),
});

/** Query parameters for an operation that supports dry runs. */
export const dryRunQuerySchema = z
  .object({
    dry_run: z
      .enum(['true', 'false'])
      .optional()
      .describe(
        'If `true`, the service validates the request, calculates prices and returns the same response as for a real request, with the header `Mandate-Dry-Run: true`. Nothing is stored, no payment provider is called, and the idempotency key remains unused.',
      ),
  })
  .strict();

/** Headers for a conditional read, which does not return a resource that the caller already has (RFC 9110 section 13.1.2). */
export const ifNoneMatchHeadersSchema = z.object({
  'if-none-match': z
    .string()
    .optional()
    .describe('ETags of the versions that you have cached. If one of these versions is current, the response is 304 without a body.'),
});

/** Headers for a conditional update, which fails if the resource has changed (RFC 9110 section 13.1.1). */
export const ifMatchHeadersSchema = z.object({
  'if-match': z
    .string()
    .optional()
    .describe('ETag of the version to change. If the resource no longer has this ETag, the response is 412 and nothing is changed.'),
});
