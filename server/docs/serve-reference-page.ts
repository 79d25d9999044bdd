import express, { type Router } from 'express';
import { referencePageClientId, referencePageRedirectPath } from '../applications/ensure-reference-page-client.ts';
import { basePathFromIssuer } from '../oauth/protocol/endpoint-paths-and-audiences.ts';
import { html, type Html } from '../http/response/html-template.ts';
import { createProviderPageSecurityHeaders } from '../oauth/pages/assets/page-security-headers.ts';
import { loadSwaggerUiAsset, readSwaggerUiFile, loadDocsFolderAsset, loadDocsFolderStylesheet } from './load-reference-page-assets.ts';

/**
 * Serves the API reference at `/docs`. Swagger UI renders the reference in the browser from this server's OpenAPI document, loads nothing
 * from other hosts, and signs users in with an authorization code and PKCE, like any other application.
 */
export function serveReferencePage(issuer: string): Router {
  const base = basePathFromIssuer(issuer);
  const assets = {
    library: loadSwaggerUiAsset('swagger-ui-bundle.js'),
    libraryStyle: loadSwaggerUiAsset('swagger-ui.css'),
    style: loadDocsFolderStylesheet('reference.css'),
    repair: loadDocsFolderAsset('reference-page-fixes.js'),
    samples: loadDocsFolderAsset('samples.js'),
    start: loadDocsFolderAsset('start-reference-page.js'),
  };
  const headers = pageHeaders(issuer);
  const page = referenceDocument(base, {
    styles: [assets.libraryStyle.path, assets.style.path],
    scripts: [assets.library.path, assets.samples.path, assets.repair.path, assets.start.path],
  }).toString();
  const router = express.Router({ caseSensitive: true, strict: true });
  for (const { path, serve } of Object.values(assets)) router.get(path, serve);
  router.get('/docs', (req, res) => {
    // Sign-in and same-origin requests work only on the issuer's host.
    if (req.headers.host?.toLowerCase() !== new URL(issuer).host) return res.redirect(307, `${issuer}/docs`);
    return res.set(headers).type('html').send(page);
  });
  router.get(referencePageRedirectPath, (_req, res) => res.set(headers).type('html').send(returnPage(base).toString()));
  const returnScript = readSwaggerUiFile('oauth2-redirect.js');
  router.get('/docs/oauth2-redirect.js', (_req, res) => res.set(headers).type('js').send(returnScript));
  return router;
}

/** Response headers with a strict Content Security Policy. Unlike the sign-in pages, the API reference may send requests to its server. */
const pageHeaders = (issuer: string): Record<string, string> => ({
  'Content-Security-Policy': [
    `default-src 'none'`,
    `script-src 'self'`,
    `style-src 'self'`,
    `img-src 'self' data:`,
    `connect-src 'self'`,
    `base-uri 'none'`,
    `form-action 'none'`,
    `frame-ancestors 'none'`,
  ].join('; '),
  'Cache-Control': 'no-cache',
  ...createProviderPageSecurityHeaders(issuer),
});

type PageFiles = { readonly styles: readonly string[]; readonly scripts: readonly string[] };

const referenceDocument = (base: string, { styles, scripts }: PageFiles): Html =>
  html`<!doctype html>
    <html lang="en" dir="ltr">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>API reference - Mandate</title>
        <link rel="icon" href="${base}/favicon.ico" />
        ${styles.map((path) => html`<link rel="stylesheet" href="${base}${path}" />`)}
        ${scripts.map((path) => html`<script defer src="${base}${path}"></script>`)}
      </head>
      <body>
        <header>
          <span class="mark" aria-hidden="true">M</span>
          <span class="name">Mandate</span>
          <nav aria-label="Documents">
            <a href="${base}/openapi.json">OpenAPI 3.1</a>
            <a href="${base}/openapi-3.0.json">OpenAPI 3.0</a>
          </nav>
        </header>
        <div
          id="reference"
          data-base="${base}"
          data-client-id="${referencePageClientId}"
          data-return="${base}${referencePageRedirectPath}"
        ></div>
        <noscript>
          <p class="plain">This page requires JavaScript. The <a href="${base}/openapi.json">OpenAPI document</a> has the same content.</p>
        </noscript>
      </body>
    </html>`;

const returnPage = (base: string): Html =>
  html`<!doctype html>
    <html lang="en" dir="ltr">
      <head>
        <meta charset="utf-8" />
        <title>Signed in - Mandate</title>
        <link rel="icon" href="${base}/favicon.ico" />
        <script defer src="${base}/docs/oauth2-redirect.js"></script>
      </head>
      <body>
        <p>You can close this window.</p>
      </body>
    </html>`;
