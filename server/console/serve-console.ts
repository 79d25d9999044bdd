import { randomBytes } from 'node:crypto';
import { scopeDefinitions } from '@mandate/contract';
import express, { type Router } from 'express';
import { consoleClientId, consolePath, consoleScopes } from '../applications/ensure-console-client.ts';
import { html, type Html } from '../http/response/html-template.ts';
import { createSecurityHeadersWithoutCsp } from '../oauth/pages/assets/page-security-headers.ts';
import { basePathFromIssuer } from '../oauth/protocol/endpoint-paths-and-audiences.ts';
import { loadConsoleEntryAndAssetHandlers } from './load-console-entry-and-asset-handlers.ts';

type ConsoleFiles = NonNullable<ReturnType<typeof loadConsoleEntryAndAssetHandlers>>;

/**
 * Serves the console at `/console`. The console is a public application, which signs users in with an authorization code, PKCE and DPoP,
 * and calls the API like any other application. The console loads nothing from other hosts. The server sends the same HTML document for
 * every page, because the console's script selects the page by the URL path.
 */
export function serveConsole(issuer: string, files: ConsoleFiles | undefined = loadConsoleEntryAndAssetHandlers()): Router {
  const router = express.Router({ caseSensitive: true, strict: true });
  if (files === undefined) return router;
  for (const { path, serve } of files.assets) router.get(`${consolePath}/${path}`, serve);
  router.get([consolePath, `${consolePath}/{*page}`], (req, res, next) => {
    if (req.path.startsWith(`${consolePath}/assets/`) || req.accepts(['html', 'json']) !== 'html') return next();
    // Sign-in and same-origin requests work only on the issuer's host.
    if (req.headers.host?.toLowerCase() !== new URL(issuer).host) return res.redirect(307, issuer + req.url);
    const nonce = randomBytes(16).toString('base64');
    return res
      .set(pageHeaders(issuer, nonce))
      .type('html')
      .send(consoleDocument(issuer, files, nonce).toString());
  });
  return router;
}

/**
 * Response headers with a strict Content Security Policy. The component library adds style elements, which need the nonce. Product images
 * can be on other hosts.
 */
const pageHeaders = (issuer: string, nonce: string): Record<string, string> => ({
  'Content-Security-Policy': [
    `default-src 'none'`,
    `base-uri 'none'`,
    `form-action 'none'`,
    `frame-ancestors 'none'`,
    `script-src 'self'`,
    `style-src 'self' 'nonce-${nonce}'`,
    `img-src 'self' data: https:`,
    `connect-src 'self'`,
  ].join('; '),
  'Cache-Control': 'no-cache',
  Vary: 'Accept',
  ...createSecurityHeadersWithoutCsp(issuer),
});

function consoleDocument(issuer: string, { script, stylesheets, imports }: ConsoleFiles, nonce: string): Html {
  const base = basePathFromIssuer(issuer);
  const url = (path: string): string => `${base}${consolePath}/${path}`;
  return html`<!doctype html>
    <html lang="en" dir="ltr">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta property="csp-nonce" nonce="${nonce}" />
        <title>Console</title>
        <link rel="icon" href="${base}/favicon.ico" />
        ${imports.map((path) => html`<link rel="modulepreload" href="${url(path)}" />`)}
        ${stylesheets.map((path) => html`<link rel="stylesheet" href="${url(path)}" />`)}
        <script type="module" src="${url(script)}"></script>
      </head>
      <body>
        <div
          id="console"
          data-issuer="${issuer}"
          data-path="${base}${consolePath}"
          data-client-id="${consoleClientId}"
          data-scopes="${consoleScopes.join(' ')}"
          data-staff-scopes="${consoleScopes.filter((name) => scopeDefinitions[name].admin).join(' ')}"
        ></div>
        <noscript><p>The console requires JavaScript.</p></noscript>
      </body>
    </html>`;
}
