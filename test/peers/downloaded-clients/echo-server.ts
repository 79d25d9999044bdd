import { createServer } from 'node:http';
import { z } from 'zod';
import type { HttpBrowser } from '../../support/browser/browser.ts';
import { closeServer, listenOnLoopback } from '../../support/network/loopback-server.ts';

export type EchoServer = AsyncDisposable & { readonly origin: string };

/** Starts a website that returns the headers of each request as JSON, so that tests see which user data a proxy forwards. */
export async function startEchoServer(): Promise<EchoServer> {
  const server = createServer((req, res) => void res.setHeader('content-type', 'application/json').end(JSON.stringify(req.headers)));
  return {
    origin: `http://127.0.0.1:${await listenOnLoopback(server)}`,
    [Symbol.asyncDispose]: () => closeServer(server),
  };
}

/** Returns the headers that a proxy adds to the browser's request, or `undefined` if the proxy redirects the browser to a sign-in page. */
export async function readEchoedHeaders(browser: HttpBrowser): Promise<Readonly<Record<string, unknown>> | undefined> {
  const { externalRedirect, text, response } = await browser.open('/');
  if (externalRedirect) return undefined;
  if (response.status !== 200) throw new Error(`the proxy responded with ${response.status}: ${text}`);
  return z.record(z.unknown()).parse(JSON.parse(text));
}
