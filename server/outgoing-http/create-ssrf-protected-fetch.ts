import { z } from 'zod';
import { DocumentTooLargeError } from './fetch-third-party-document.ts';
import { type NetworkPolicy, withSsrfProtectedConnection } from './ssrf-protected-connection.ts';

export type ProtectedFetchLimits = {
  /** Timeout in milliseconds for each request and its response. */
  readonly totalMs: number;
  /** Maximum size of a response body. */
  readonly bytesMax: number;
};

/** The part of `RequestInit` that the returned function supports. */
export type ProtectedFetchInit = {
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: unknown;
};

/**
 * Creates a replacement for `fetch()`, for a library that sends requests to a third party's URLs. Each request has its own connection to a
 * public address, redirects are not followed, and the response is read completely before the function returns.
 * @returns a function that throws AddressNotAllowedError, DocumentTooLargeError or the connection error
 */
export const createSsrfProtectedFetch =
  (network: NetworkPolicy, { totalMs, bytesMax }: ProtectedFetchLimits) =>
  (url: string, { method, headers, body: content }: ProtectedFetchInit): Promise<Response> =>
    withSsrfProtectedConnection({ url, network, totalMs }, async ({ client, path, signal }) => {
      const body = content === undefined || content === null ? null : bodyText(content);
      const response = await client.request({ method: method === 'POST' ? 'POST' : 'GET', path, headers, body, signal });
      const chunks: Uint8Array[] = [];
      let length = 0;
      for await (const chunk of response.body) {
        const bytes = z.instanceof(Uint8Array).parse(chunk);
        length += bytes.length;
        if (length > bytesMax) throw new DocumentTooLargeError(`the response is larger than ${bytesMax} bytes`);
        chunks.push(bytes);
      }
      const responseHeaders = new Headers();
      for (const [name, value] of Object.entries(response.headers))
        for (const one of [value ?? []].flat()) responseHeaders.append(name, one);
      return new Response(Buffer.concat(chunks), { status: response.statusCode, headers: responseHeaders });
    });

function bodyText(content: unknown): string {
  if (typeof content === 'string') return content;
  if (content instanceof URLSearchParams) return content.toString();
  throw new TypeError('only text and forms can be sent');
}
