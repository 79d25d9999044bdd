import type { Response } from 'express';
import { createProblem } from '../problem-details/problem.ts';
import type { MatchedRequest } from '../request/matched-route.ts';

/** Increment this number when resource serialization changes. */
const representationVersion = 1;

type Versioned = { readonly version: number };

/**
 * Formats a strong ETag that is the same for every caller, such as `"order-7-2.1"`. A `variant` is a response value that changes
 * independently of the version, such as a product's stock, and is appended: `"product-7-2.1~80"`.
 */
export const formatEtag = (name: string, { version }: Versioned, variant?: number | null): string =>
  `"${name}-${version}.${representationVersion}${variant === undefined ? '' : `~${String(variant)}`}"`;

/** Returns a resource with its ETag, or 304 if the client has the current version (RFC 9110 section 13.1.2). */
export function respondWithEtagOrNotModified<Body extends Versioned>(
  req: MatchedRequest,
  res: Response,
  name: string,
  body: Body,
  variant?: number | null,
) {
  const etag = formatEtag(name, body, variant);
  res.setHeader('ETag', etag).setHeader('Cache-Control', 'private, no-cache');
  if (matchesIfNoneMatch(req.get('if-none-match'), etag)) return { status: 304 as const, body: undefined };
  return { status: 200 as const, body };
}

/** Returns a changed resource with its new version's ETag. */
export function respondWithEtagOfChangedResource<Body extends Versioned>(res: Response, name: string, body: Body, variant?: number | null) {
  res.set('ETag', formatEtag(name, body, variant));
  return { status: 200 as const, body };
}

/**
 * Rejects a change if `If-Match` specifies a different version (RFC 9110 section 13.1.1). Call this in the transaction, after locking the
 * resource. Without `If-Match`, the change is allowed.
 */
export function rejectIfMatchMismatch(req: MatchedRequest, name: string, resource: Versioned): void {
  const header = req.get('if-match');
  if (header === undefined) return;
  const etag = formatEtag(name, resource);
  // The variant part of the ETag (for example, the stock) is ignored, because the client does not intend to change this value, and other
  // requests may have changed it.
  const expected = parseEtags(header).map((tag) => tag.replace(/~[^"]*"$/, '"'));
  if (expected.includes('*') || expected.includes(etag)) return;
  throw createProblem('precondition_failed', {
    detail: 'The resource has changed. Fetch it again, and retry with its current ETag.',
    headers: { ETag: etag },
  });
}

/** Like `rejectIfMatchMismatch`, but also rejects a change without `If-Match`. */
export function requireMatchingIfMatch(req: MatchedRequest, name: string, resource: Versioned): void {
  if (req.get('if-match') !== undefined) return rejectIfMatchMismatch(req, name, resource);
  throw createProblem('precondition_required', {
    detail: 'In If-Match, send the ETag of the version that you want to change.',
    headers: { ETag: formatEtag(name, resource) },
  });
}

/** Rejects a request with `If-None-Match: *`, which allows creating a resource but not changing an existing one. */
export function rejectIfNoneMatchHeaderIsAsterisk(req: MatchedRequest, name: string, resource: Versioned): void {
  if (!parseEtags(req.get('if-none-match')).includes('*')) return;
  throw createProblem('precondition_failed', { detail: 'The resource already exists.', headers: { ETag: formatEtag(name, resource) } });
}

/** Returns whether `If-None-Match` lists this ETag, by weak comparison (RFC 9110 section 8.8.3.2). */
export function matchesIfNoneMatch(header: string | undefined, etag: string): boolean {
  const etags = parseEtags(header);
  return etags.includes('*') || etags.some((tag) => tag.replace(/^W\//, '') === etag);
}

const parseEtags = (header: string | undefined): string[] => header?.split(',').map((tag) => tag.trim()) ?? [];
