import type { Response } from 'express';
import { problem } from '../problem-details/problem.ts';
import type { RoutedRequest } from '../request/matched-route.ts';

/** Changes whenever the same version of a thing is written differently. */
const representation = 1;

type Versioned = { readonly version: number };

/**
 * Strong, and the same for every caller and token: `"order-7-2.1"`. What is shown beside the version and changes without it, such
 * as the stock of a product, stands at the end: `"product-7-2.1~80"`.
 */
export const etagOf = (name: string, { version }: Versioned, beside?: number | null): string =>
  `"${name}-${version}.${representation}${beside === undefined ? '' : `~${String(beside)}`}"`;

/** One thing with its ETag, or 304 when the caller has it already (RFC 9110 section 13.1.2). */
export function found<Body extends Versioned>(req: RoutedRequest, res: Response, name: string, body: Body, beside?: number | null) {
  const etag = etagOf(name, body, beside);
  res.setHeader('ETag', etag).setHeader('Cache-Control', 'private, no-cache');
  if (hasEtag(req.get('if-none-match'), etag)) return { status: 304 as const, body: undefined };
  return { status: 200 as const, body };
}

/** The same after a change, with the ETag of the new version. */
export function changed<Body extends Versioned>(res: Response, name: string, body: Body, beside?: number | null) {
  res.set('ETag', etagOf(name, body, beside));
  return { status: 200 as const, body };
}

/**
 * Refuses a change to another version than the caller means (RFC 9110 section 13.1.1). Call it in the transaction, once the
 * thing is locked. Without If-Match the change goes ahead, unless it is `required`.
 */
export function requireMatch(req: RoutedRequest, name: string, thing: Versioned, required: 'required' | 'optional' = 'optional'): void {
  const header = req.get('if-match');
  const etag = etagOf(name, thing);
  if (header === undefined && required === 'optional') return;
  if (header === undefined)
    throw problem('precondition_required', { detail: 'Send the ETag of the version you mean in If-Match.', headers: { ETag: etag } });
  // A sale in between changes what is shown beside the version, and nothing that the caller is about to change.
  const meant = listed(header).map((tag) => tag.replace(/~[^"]*"$/, '"'));
  if (meant.includes('*') || meant.includes(etag)) return;
  throw problem('precondition_failed', {
    detail: 'It was changed in the meantime. Read it again, and decide anew.',
    headers: { ETag: etag },
  });
}

/** `If-None-Match: *` means: only if it does not exist yet. */
export function refuseExisting(req: RoutedRequest, name: string, thing: Versioned): void {
  if (!listed(req.get('if-none-match')).includes('*')) return;
  throw problem('precondition_failed', { detail: 'It exists already.', headers: { ETag: etagOf(name, thing) } });
}

/** Whether `If-None-Match` lists this ETag, by the weak comparison of RFC 9110 section 8.8.3.2. */
export function hasEtag(header: string | undefined, etag: string): boolean {
  const known = listed(header);
  return known.includes('*') || known.some((tag) => tag.replace(/^W\//, '') === etag);
}

const listed = (header: string | undefined): string[] => header?.split(',').map((tag) => tag.trim()) ?? [];
