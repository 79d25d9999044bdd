import { randomBytes } from 'node:crypto';
import express, { type Router } from 'express';
import { referencePageClientId, referencePageRedirectPath } from '../applications/ensure-reference-page-client.ts';
import { basePathFromIssuer } from '../oauth/protocol/endpoint-paths-and-audiences.ts';
import { html, type Html } from '../http/response/html-template.ts';
import { serveStaticDocument } from '../http/response/serve-static-document.ts';
import { createProviderPageSecurityHeaders } from '../oauth/pages/assets/page-security-headers.ts';
import { createReferencePageOpenApiDocument } from './create-reference-page-openapi-document.ts';
import { loadDocsFolderAsset, loadScalarAssets } from './load-reference-page-assets.ts';
import { renderIntroductionAndFirstOperation } from './render-introduction-and-first-operation.ts';
import { readApiV1OpenApiDocument } from './serve-openapi-documents.ts';

/**
 * Serves the API reference at `/docs`. Scalar renders the reference in the browser from this server's OpenAPI document, loads nothing from
 * other hosts, and signs users in with an authorization code and PKCE, like any other application.
 */
export function serveReferencePage(issuer: string): Router {
  const base = basePathFromIssuer(issuer);
  const library = loadScalarAssets();
  const style = loadDocsFolderAsset('reference.css');
  const fixes = loadDocsFolderAsset('reference-page-fixes.js');
  const start = loadDocsFolderAsset('start-reference-page.js');
  const files = { style: style.path, scripts: [fixes.path, start.path], library: library.entry };
  const router = express.Router({ caseSensitive: true, strict: true });
  for (const { path, serve } of [style, fixes, start, ...library.assets]) router.get(path, serve);
  let firstOperation: Html | undefined;
  router.get('/docs', (req, res) => {
    // Sign-in and same-origin requests work only on the issuer's host.
    if (req.headers.host?.toLowerCase() !== new URL(issuer).host) return res.redirect(307, `${issuer}/docs`);
    firstOperation ??= renderIntroductionAndFirstOperation(readApiV1OpenApiDocument(issuer));
    const nonce = randomBytes(16).toString('base64');
    return res
      .set(pageHeaders(issuer, nonce))
      .type('html')
      .send(referenceDocument(base, files, nonce, firstOperation).toString());
  });
  const readDocument = (): Buffer => Buffer.from(JSON.stringify(createReferencePageOpenApiDocument(issuer)));
  router.get('/docs/openapi.json', serveStaticDocument('json', readDocument, 'public, max-age=300'));
  router.get(referencePageRedirectPath, (_req, res) => res.set(pageHeaders(issuer)).type('html').send(returnPage(base).toString()));
  return router;
}

/**
 * Response headers with a strict Content Security Policy. Unlike the sign-in pages, this page may send requests to its server. Scalar adds style elements, which need the nonce,
 * and `style` attributes, which cannot have one. No style can load anything from another host.
 */
const pageHeaders = (issuer: string, nonce?: string): Record<string, string> => ({
  'Content-Security-Policy': [
    `default-src 'none'`,
    `script-src 'self'`,
    ...(nonce === undefined ? [`style-src 'self'`] : [`style-src 'self' 'nonce-${nonce}'`, `style-src-attr 'unsafe-inline'`]),
    `img-src 'self' data:`,
    `connect-src 'self'`,
    `base-uri 'none'`,
    `form-action 'none'`,
    `frame-ancestors 'none'`,
  ].join('; '),
  'Cache-Control': 'no-cache',
  ...createProviderPageSecurityHeaders(issuer),
});

type PageFiles = { readonly style: string; readonly scripts: readonly string[]; readonly library: string };

const referenceDocument = (base: string, { style, scripts, library }: PageFiles, nonce: string, firstOperation: Html): Html =>
  html`<!doctype html>
    <html lang="en" dir="ltr">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta property="csp-nonce" content="${nonce}" />
        <title>API reference - Mandate</title>
        <link rel="icon" href="${base}/favicon.ico" />
        <link rel="modulepreload" href="${base}${library}" />
        <link rel="stylesheet" href="${base}${style}" />
        ${scripts.map((path) => html`<script type="module" src="${base}${path}"></script>`)}
      </head>
      <body>
        <nav class="page-header" aria-label="Documents">
          <span class="mark" aria-hidden="true">M</span>
          <a href="${base}/">Mandate</a>
          <a href="${base}/openapi.json">OpenAPI 3.1</a>
          <a href="${base}/openapi-3.0.json">OpenAPI 3.0</a>
        </nav>
        ${firstOperation}
        <div
          id="reference"
          data-base="${base}"
          data-client-id="${referencePageClientId}"
          data-library="${library}"
          data-nonce="${nonce}"
          data-return="${base}${referencePageRedirectPath}"
        ></div>
        <noscript>
          <p class="plain">
            The complete reference requires JavaScript. The <a href="${base}/openapi.json">OpenAPI document</a> has the same content.
          </p>
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
      </head>
      <body>
        <p>You can close this window.</p>
      </body>
    </html>`;
