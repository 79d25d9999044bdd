import type { ClientRequest, IncomingMessage, RequestOptions } from 'node:http';
import type { Fetch } from '@mandate/client-sdk';

/**
 * A `fetch` for small requests and responses, built on `node:http`. Loading Node's own `fetch` takes longer than everything else that a
 * command does, so Node's `fetch` is used only for proxies and for files, which it can stream and decompress.
 */
export const lightweightFetch: Fetch = async (url, init) => {
  const { body = null } = init;
  const headers = new Headers(init.headers);
  const isFile = (body !== null && typeof body !== 'string') || headers.get('accept') === '*/*';
  if (isFile || isProxied()) return fetch(url, init);
  const response = await sendRequest(
    url,
    { method: init.method ?? 'GET', headers: toRequestHeaders(headers, body), signal: init.signal ?? undefined },
    body,
  );
  const { statusCode: status = 0, statusMessage: statusText = '' } = response;
  if (init.redirect === 'error' && [301, 302, 303, 307, 308].includes(status)) {
    response.destroy();
    throw new TypeError('fetch failed', { cause: new Error('unexpected redirect') });
  }
  const received = new Headers();
  for (const [name, values = []] of Object.entries(response.headersDistinct)) for (const value of values) received.append(name, value);
  const text = (): Promise<string> => readText(response);
  const result = { url, status, statusText, ok: status >= 200 && status < 300, headers: received, body: null, text };
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the members of `Response` that the client uses
  return { ...result, json: async () => JSON.parse(await text()) as unknown } as unknown as Response;
};

/** Returns whether Node is configured to use a proxy, which only its own `fetch` supports. */
// oxlint-disable-next-line node/no-process-env -- this variable configures Node itself
const isProxied = (): boolean => process.env['NODE_USE_ENV_PROXY'] === '1';

const toRequestHeaders = (headers: Headers, body: string | null): Record<string, string> => ({
  ...Object.fromEntries(headers.entries()),
  ...(body !== null && { 'content-length': String(Buffer.byteLength(body)) }),
});

function sendRequest(
  url: string,
  options: RequestOptions & { signal: AbortSignal | undefined },
  body: string | null,
): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const fail = (cause: Error): void => reject(new TypeError('fetch failed', { cause }));
    openRequest(url, options)
      .once('response', resolve)
      .on('error', fail)
      .end(body ?? undefined);
  });
}

/** Opens the request. Uses `getBuiltinModule`, because importing `node:http` would also load Node's `fetch`. */
function openRequest(url: string, { signal, ...options }: RequestOptions & { signal: AbortSignal | undefined }): ClientRequest {
  const { request } = process.getBuiltinModule(url.startsWith('https:') ? 'node:https' : 'node:http');
  return request(url, { ...options, ...(signal && { signal }) });
}

async function readText(response: IncomingMessage): Promise<string> {
  let text = '';
  response.setEncoding('utf8');
  try {
    for await (const chunk of response) text += String(chunk);
  } catch (cause) {
    throw new TypeError('terminated', { cause });
  }
  return text;
}
