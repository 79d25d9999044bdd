import type { IncomingHttpHeaders } from 'undici/types/header.js';
import { z } from 'zod';
import { type NetworkPolicy, withSsrfProtectedConnection } from './ssrf-protected-connection.ts';

export type FetchedDocument = { readonly statusCode: number; readonly headers: IncomingHttpHeaders; readonly text: string };

export type DocumentRequest = {
  readonly url: string;
  readonly accept: string;
  /** Timeout in milliseconds for the whole request and response. */
  readonly totalMs: number;
  /** Maximum body size. */
  readonly bytesMax: number;
};

export class DocumentTooLargeError extends Error {
  override readonly name = 'DocumentTooLargeError';
}

/**
 * Sends one GET request to a URL that a third party specified. Redirects are not followed.
 * @throws {AddressNotAllowedError} if the URL or one of its addresses is not public
 * @throws {DocumentTooLargeError}
 */
export function fetchThirdPartyDocument(
  { url, accept, totalMs, bytesMax }: DocumentRequest,
  network: NetworkPolicy,
): Promise<FetchedDocument> {
  return withSsrfProtectedConnection({ url, network, totalMs }, async ({ client, path, signal }) => {
    const { statusCode, headers, body } = await client.request({ method: 'GET', path, headers: { accept }, signal });
    const chunks: Uint8Array[] = [];
    let length = 0;
    for await (const chunk of body) {
      const bytes = z.instanceof(Uint8Array).parse(chunk);
      length += bytes.length;
      if (length > bytesMax) throw new DocumentTooLargeError(`the document is larger than ${bytesMax} bytes`);
      chunks.push(bytes);
    }
    return { statusCode, headers, text: Buffer.concat(chunks).toString('utf8') };
  });
}
