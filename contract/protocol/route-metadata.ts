import { extendApi } from '@anatine/zod-openapi';
import { isAppRoute, type AppRoute, type AppRouter } from '@ts-rest/core';
import { z } from 'zod';
import type { Scope } from './scopes.ts';

/** That something should not be used any more. Moments are RFC 3339 in UTC: `2027-01-31T00:00:00Z`. */
export type Deprecation = {
  readonly since: string;
  /** When it ends; from then on it answers 410. Not before `since`. */
  readonly sunset?: string;
  /** What to use instead: an absolute URL, or a path of the service. */
  readonly guide: string;
};

/** What a route says of itself besides its shapes. */
export type RouteMetadata = {
  /** The method's name in the SDK and `operationId` in the OpenAPI document. */
  readonly operationId: string;
  /**
   * Any one of these scopes lets a request in; `token` asks for a token and no scope; `public` needs no token.
   * Which objects it may touch is decided per object.
   */
  readonly access: 'public' | 'token' | readonly [Scope, ...Scope[]];
  /** Whether the request accepts an `Idempotency-Key`. Every POST does, except those on the list in `test/support/contract/replay-assertions.ts`. */
  readonly idempotent?: boolean;
  /** Field of the response with a secret (`shownOnce`): it is neither stored nor replayed. */
  readonly secret?: string;
  /** Whether the response has the ETag of the created resource: for operations without `If-Match` and `If-None-Match`, whose responses have it anyway. */
  readonly returnsEtag?: boolean;
  /** Largest accepted body in bytes (default: `usualBodyMax`); infinite for files. */
  readonly bodyMax?: number;
  /** Media types of a body that is not JSON: nobody reads it before the handler does, from the request itself. */
  readonly consumes?: readonly [string, ...string[]];
  /** Media types of the answer, where it is not JSON. */
  readonly produces?: readonly string[];
  readonly deprecated?: Deprecation;
  /** Called by others' systems only, in a form of theirs: clients have no method for it. */
  readonly internal?: boolean;
};

/** Largest accepted body in bytes of an operation that does not declare another limit. */
export const usualBodyMax = 100_000;

/** Names a route and says who may call it. */
export const describedBy = <const Metadata extends RouteMetadata>(metadata: Metadata): Metadata => metadata;

/** What the route says of itself; every route must. */
export function metadataOf(route: AppRoute): RouteMetadata {
  const { metadata } = route;
  if (typeof metadata !== 'object' || metadata === null || !('operationId' in metadata) || !('access' in metadata)) {
    throw new Error(`${route.method} ${route.path} does not say who may call it`);
  }
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- ts-rest types metadata as unknown; only describedBy() above makes it
  return metadata as RouteMetadata;
}

/** Every route of a router, in the order they are declared. */
export const routesOf = (router: AppRouter | AppRoute): AppRoute[] =>
  isAppRoute(router) ? [router] : Object.values(router).flatMap(routesOf);

/** Headers of a request that creates or starts something. The key's form is checked apart, so that a bad one has a code of its own. */
export const idempotencyHeaders = z.object({
  'idempotency-key': extendApi(z.string().optional(), { minLength: 1, maxLength: 255 }).describe(
    'Makes the request safe to repeat: 1 to 255 of `A-Z a-z 0-9 . _ : -`, kept for 24 hours. The same key with the same request returns the first response again, with `Idempotent-Replayed: true`; a secret in it is `null` then.',
  ),
});

/** Query of an operation that can be tried out without any effect. */
export const dryRunQuery = z
  .object({
    dry_run: z
      .enum(['true', 'false'])
      .optional()
      .describe(
        '`true` checks and prices everything and returns the response of the real request, marked with `Mandate-Dry-Run: true`. Nothing is written, no payment provider is called, and no idempotency key is claimed.',
      ),
  })
  .strict();

/** Headers of a request for one thing: it is not sent again when the caller has it already (RFC 9110 section 13.1.2). */
export const ifNoneMatchHeaders = z.object({
  'if-none-match': z.string().optional().describe('ETags you have; if one of them is current, the answer is 304 without a body.'),
});

/** Headers of a request that changes one thing, if it is still the version the caller means (RFC 9110 section 13.1.1). */
export const ifMatchHeaders = z.object({
  'if-match': z
    .string()
    .optional()
    .describe('The ETag of the version you mean; if it is no longer current, nothing is changed and the answer is 412.'),
});
