import type { ClientRequest, IncomingMessage, RequestOptions } from 'node:http';
import type { Fetch } from '@mandate/client-sdk';

/**
 * `fetch` for short questions and answers. The platform's own has to be loaded first, which takes longer than everything else that
 * a command does; it is left for files, for compressed and for proxied connections.
 */
export const quickFetch: Fetch = async (url, init) => {
  const { body = null } = init;
  const headers = new Headers(init.headers);
  const isFile = (body !== null && typeof body !== 'string') || headers.get('accept') === '*/*';
  if (isFile || isProxied()) return fetch(url, init);
  const response = await answerTo(
    url,
    { method: init.method ?? 'GET', headers: headersOf(headers, body), signal: init.signal ?? undefined },
    body,
  );
  const { statusCode: status = 0, statusMessage: statusText = '' } = response;
  if (init.redirect === 'error' && [301, 302, 303, 307, 308].includes(status)) {
    response.destroy();
    throw new TypeError('fetch failed', { cause: new Error('unexpected redirect') });
  }
  const received = new Headers();
  for (const [name, values = []] of Object.entries(response.headersDistinct)) for (const value of values) received.append(name, value);
  const text = (): Promise<string> => textOf(response);
  const answer = { url, status, statusText, ok: status >= 200 && status < 300, headers: received, body: null, text };
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- as much of a response as the client looks at
  return { ...answer, json: async () => JSON.parse(await text()) as unknown } as unknown as Response;
};

/** Node's own `fetch` knows how to reach the world through a proxy. */
// oxlint-disable-next-line node/no-process-env -- it is Node that this variable is meant for
const isProxied = (): boolean => process.env['NODE_USE_ENV_PROXY'] === '1';

const headersOf = (headers: Headers, body: string | null): Record<string, string> => ({
  ...Object.fromEntries(headers.entries()),
  ...(body !== null && { 'content-length': String(Buffer.byteLength(body)) }),
});

function answerTo(
  url: string,
  options: RequestOptions & { signal: AbortSignal | undefined },
  body: string | null,
): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const failed = (cause: Error): void => reject(new TypeError('fetch failed', { cause }));
    begin(url, options)
      .once('response', resolve)
      .on('error', failed)
      .end(body ?? undefined);
  });
}

/** Importing these modules would load everything they give access to, the platform's `fetch` included. */
function begin(url: string, { signal, ...options }: RequestOptions & { signal: AbortSignal | undefined }): ClientRequest {
  const { request } = process.getBuiltinModule(url.startsWith('https:') ? 'node:https' : 'node:http');
  return request(url, { ...options, ...(signal && { signal }) });
}

async function textOf(response: IncomingMessage): Promise<string> {
  let text = '';
  response.setEncoding('utf8');
  try {
    for await (const piece of response) text += String(piece);
  } catch (cause) {
    throw new TypeError('terminated', { cause });
  }
  return text;
}
