import { z } from 'zod';
import { maxStoredWebhookResponseBytes, type WebhookExchange } from '@mandate/contract';

type StoredRequest = NonNullable<WebhookExchange['request']>;
type StoredResponse = NonNullable<WebhookExchange['response']>;

/** Response headers that help to identify the cause of a failure. None of these headers contains a credential of the endpoint. */
const storedHeaders = ['content-type', 'content-length', 'location', 'retry-after', 'server', 'www-authenticate', 'x-request-id'];
const headerLengthMax = 300;

/** Maximum number of bytes that are read from a response. This number allows endpoints to send a complete error page. */
const responseBytesMax = 64 * 1024;

// oxlint-disable-next-line no-control-regex -- control characters are removed
const controlCharacters = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g;

/** Returns a request in its stored form. The body is omitted, because it is the event, which is already stored. */
export const toStoredWebhookRequest = (url: string, headers: Readonly<Record<string, string>>): StoredRequest => ({
  url: removeCredentialsFromUrl(url),
  headers: { ...headers },
});

type ReceivedResponse = {
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: AsyncIterable<unknown>;
};

/** Reads a response, and returns the part that is stored. An incomplete body is not an error, because the status is known. */
export async function readResponseToStore({ headers, body }: ReceivedResponse): Promise<StoredResponse> {
  const { bytes, isTruncated } = await readStartOfBody(body);
  return { headers: Object.fromEntries(listStoredHeaders(headers)), body: decodeText(bytes, isTruncated), body_truncated: isTruncated };
}

function listStoredHeaders(headers: ReceivedResponse['headers']): (readonly [string, string])[] {
  return storedHeaders.flatMap((name) => {
    const value = [headers[name] ?? []].flat().join(', ').replaceAll(controlCharacters, '');
    if (value === '') return [];
    return [[name, (name === 'location' ? removeCredentialsFromUrl(value) : value).slice(0, headerLengthMax)] as const];
  });
}

/** Removes the user name, the password, the query and the fragment from a URL, because each of these parts can contain a credential. */
function removeCredentialsFromUrl(text: string): string {
  if (!URL.canParse(text)) return text.replace(/[?#].*$/s, '').replace(/\/\/[^/]*@/, '//');
  const url = new URL(text);
  return url.origin === 'null' ? url.protocol : url.origin + url.pathname;
}

async function readStartOfBody(body: AsyncIterable<unknown>): Promise<{ readonly bytes: Buffer; readonly isTruncated: boolean }> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  try {
    for await (const chunk of body) {
      const bytes = z.instanceof(Uint8Array).parse(chunk);
      if (length < maxStoredWebhookResponseBytes) chunks.push(bytes.subarray(0, maxStoredWebhookResponseBytes - length));
      length += bytes.length;
      if (length > responseBytesMax) break;
    }
  } catch {
    // The endpoint closed the connection, or did not send the rest of the response in time.
  }
  return { bytes: Buffer.concat(chunks), isTruncated: length > maxStoredWebhookResponseBytes };
}

/** Decodes UTF-8, and removes control characters except tabs and line feeds. Returns null if the bytes are not text. */
function decodeText(bytes: Buffer, isTruncated: boolean): string | null {
  try {
    // With `stream`, a character that was split by the truncation is omitted and does not cause an error.
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream: isTruncated }).replaceAll(controlCharacters, '');
  } catch {
    return null;
  }
}
