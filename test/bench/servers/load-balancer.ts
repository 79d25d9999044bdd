import { once } from 'node:events';
import { request } from 'node:http';
import { buffer } from 'node:stream/consumers';
import type { Send } from '../../support/browser/browser.ts';

/** Where all servers believe to be. */
export const issuer = 'https://shop.example';

/** Requests reach a server in production through a proxy that speaks TLS, and says so. */
export const throughProxy = { 'x-forwarded-proto': 'https', 'x-forwarded-for': '192.0.2.7', host: new URL(issuer).host };

/** Sends as that proxy to the server at `origin`; `fetch` would not send another Host than the address it connects to. */
export const proxyTo =
  (origin: string): Send =>
  async (url, init) => {
    const asked = new Request(url, init);
    const headers = { ...throughProxy, ...Object.fromEntries(new Headers(init.headers)), ...contentType(asked) };
    const sent = request(`${origin}${url.pathname}${url.search}`, { method: asked.method, headers });
    sent.end(init.body === undefined ? undefined : await asked.text());
    const [answer] = await once(sent, 'response');
    const received = new Headers();
    for (const [name, values = []] of Object.entries<string[] | undefined>(answer.headersDistinct))
      for (const value of values) received.append(name, value);
    return new Response(await buffer(answer), { status: answer.statusCode, headers: received });
  };

function contentType({ headers }: Request): Record<string, string> {
  const type = headers.get('content-type');
  return type === null ? {} : { 'content-type': type };
}
