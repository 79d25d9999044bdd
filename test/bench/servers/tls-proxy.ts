import { once } from 'node:events';
import { request } from 'node:http';
import { buffer } from 'node:stream/consumers';
import type { SendRequest } from '../../support/browser/browser.ts';

/** Issuer URL that all servers use. */
export const issuer = 'https://shop.example';

/** Headers that a TLS-terminating proxy adds in production. */
export const proxyHeaders = { 'x-forwarded-proto': 'https', 'x-forwarded-for': '192.0.2.7', host: new URL(issuer).host };

/** Returns a function that sends requests to `origin` as a TLS-terminating proxy would. `fetch` cannot set the `Host` header. */
export const sendThroughProxy =
  (origin: string): SendRequest =>
  async (url, init) => {
    const outgoing = new Request(url, init);
    const headers = { ...proxyHeaders, ...Object.fromEntries(new Headers(init.headers)), ...contentType(outgoing) };
    const sent = request(`${origin}${url.pathname}${url.search}`, { method: outgoing.method, headers });
    sent.end(init.body === undefined ? undefined : await outgoing.text());
    const [response] = await once(sent, 'response');
    const received = new Headers();
    for (const [name, values = []] of Object.entries<string[] | undefined>(response.headersDistinct))
      for (const value of values) received.append(name, value);
    return new Response(await buffer(response), { status: response.statusCode, headers: received });
  };

function contentType({ headers }: Request): Record<string, string> {
  const type = headers.get('content-type');
  return type === null ? {} : { 'content-type': type };
}
