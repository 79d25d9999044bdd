import {
  fetchThirdPartyDocument,
  DocumentTooLargeError,
  type DocumentRequest,
  type FetchedDocument,
} from './fetch-third-party-document.ts';
import { AddressNotAllowedError, type NetworkPolicy } from './ssrf-protected-connection.ts';

/** Thrown for a document that cannot be fetched or used. The message is intended for the developer who publishes the document. */
export class UnusableDocumentError extends Error {
  override readonly name: string = 'UnusableDocumentError';
}

/**
 * Fetches a JSON document from a URL that a third party specified. Redirects are not followed.
 * @throws {UnusableDocumentError}
 */
export async function fetchJsonDocument(request: Omit<DocumentRequest, 'accept'>, network: NetworkPolicy): Promise<FetchedDocument> {
  try {
    return await fetchThirdPartyDocument({ ...request, accept: 'application/json' }, network);
  } catch (cause) {
    if (cause instanceof DocumentTooLargeError) throw new UnusableDocumentError(cause.message, { cause });
    if (cause instanceof AddressNotAllowedError) throw new UnusableDocumentError('the host has no public address', { cause });
    throw new UnusableDocumentError('the document could not be fetched', { cause });
  }
}

/**
 * Returns the content of a JSON document.
 * @throws {UnusableDocumentError} if the response is not a JSON document
 */
export function parseFetchedJsonDocument({ statusCode, headers, text }: FetchedDocument): unknown {
  if (statusCode !== 200) throw new UnusableDocumentError(`the response has the status ${statusCode}, not 200; redirects are not followed`);
  const contentType = String(headers['content-type'] ?? '');
  if (!/^application\/([\w.-]+\+)?json\s*(;|$)/i.test(contentType))
    throw new UnusableDocumentError('the response must have the content type application/json');
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new UnusableDocumentError('the document is not JSON', { cause });
  }
}

const cacheSecondsMin = 5 * 60;
const cacheSecondsMax = 24 * 60 * 60;

/**
 * Returns the document's cache lifetime in seconds. The result is the freshness lifetime (RFC 9111 section 4.2), clamped to a range from 5
 * minutes to 24 hours.
 */
export function clampedCacheSecondsFromHeaders({ headers }: FetchedDocument, now: Date): number {
  const control = String(headers['cache-control'] ?? '');
  const maxAge = /(?:^|[\s,])max-age="?(\d{1,9})/i.exec(control)?.[1];
  const expires = Date.parse(String(headers['expires'] ?? ''));
  const date = Date.parse(String(headers['date'] ?? ''));
  const lifetime = /\bno-(store|cache)\b/i.test(control)
    ? 0
    : maxAge !== undefined
      ? Number(maxAge) - (Number(headers['age']) || 0)
      : (expires - (Number.isNaN(date) ? now.getTime() : date)) / 1000;
  return Math.min(cacheSecondsMax, Math.max(cacheSecondsMin, Number.isNaN(lifetime) ? 0 : lifetime));
}
