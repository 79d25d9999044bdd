import { randomBytes } from 'node:crypto';
import express, { type Request, type Response, type Router } from 'express';
import { apiReferencePageClientId, apiReferencePageRedirectPath } from '../applications/ensure-api-reference-page-client.ts';
import { calculateThemeColors } from '../branding/theme-colors.ts';
import { html, type Html } from '../http/response/html-template.ts';
import { serveStaticDocument } from '../http/response/serve-static-document.ts';
import { createSecurityHeadersWithoutCsp } from '../oauth/pages/assets/page-security-headers.ts';
import { renderLanguageSwitch } from '../oauth/pages/layout/language-switch.ts';
import { getFaviconPath, renderShopLinks, renderShopLogoOrFirstLetter } from '../oauth/pages/layout/shop-logo-favicon-and-links.ts';
import { localizePageSettingsForRequest, setPageLanguageHeaders } from '../oauth/pages/views/select-and-store-page-language.ts';
import { prefixPathsWithBasePath, type PageSettings } from '../oauth/pages/views/page-layout-and-form-fields.ts';
import { createReferencePageOpenApiDocument } from './create-reference-page-openapi-document.ts';
import { loadDocsFolderAsset, loadScalarAssets } from './create-reference-page-asset-handlers.ts';
import { renderIntroductionAndFirstOperation } from './render-introduction-and-first-operation.ts';
import { readApiV1OpenApiDocument } from './serve-openapi-documents.ts';

/**
 * Serves the API reference at `/docs`. Scalar renders the reference in the browser from this server's OpenAPI document, loads nothing from
 * other hosts, and signs users in with an authorization code and PKCE, like any other application.
 */
export function serveReferencePage(pageSettings: PageSettings, issuer: string): Router {
  const library = loadScalarAssets();
  const style = loadDocsFolderAsset('reference.css');
  const fixes = loadDocsFolderAsset('reference-page-fixes.js');
  const start = loadDocsFolderAsset('start-reference-page.js');
  const files = { style: style.path, scripts: [fixes.path, start.path], library: library.entry };
  const router = express.Router({ caseSensitive: true, strict: true });
  for (const { path, serve } of [style, fixes, start, ...library.assets]) router.get(path, serve);
  let firstOperation: Html | undefined;
  const sendPage = async (req: Request, res: Response, render: (settings: PageSettings) => Html, nonce?: string): Promise<void> => {
    await pageSettings.refreshBranding();
    const settings = localizePageSettingsForRequest(pageSettings, req);
    setPageLanguageHeaders(res, settings);
    res
      .set(pageHeaders(issuer, nonce))
      .type('html')
      .send(prefixPathsWithBasePath(settings.base, render(settings)).toString());
  };
  router.get('/docs', (req, res) => {
    // Sign-in and same-origin requests work only on the issuer's host.
    if (req.headers.host?.toLowerCase() !== new URL(issuer).host) return res.redirect(307, `${issuer}/docs`);
    const content = (firstOperation ??= renderIntroductionAndFirstOperation(readApiV1OpenApiDocument(issuer)));
    const nonce = randomBytes(16).toString('base64');
    return sendPage(req, res, (settings) => referenceDocument(settings, files, nonce, content), nonce);
  });
  const readDocument = (): Buffer => Buffer.from(JSON.stringify(createReferencePageOpenApiDocument(issuer)));
  router.get('/docs/openapi.json', serveStaticDocument('json', readDocument, 'public, max-age=300'));
  router.get(apiReferencePageRedirectPath, (req, res) => sendPage(req, res, returnPage));
  return router;
}

/**
 * Response headers with a strict Content Security Policy. Unlike the sign-in pages, this page may send requests to its server. Scalar adds
 * style elements, which need the nonce, and `style` attributes, which cannot have a nonce. No style can load anything from another host.
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
  ...createSecurityHeadersWithoutCsp(issuer),
});

type PageFiles = { readonly style: string; readonly scripts: readonly string[]; readonly library: string };

/** The header and footer of the page are in the language of the request. The API descriptions and Scalar are in English. */
const referenceDocument = (
  { shop, messages, languageSwitch, base }: PageSettings,
  { style, scripts, library }: PageFiles,
  nonce: string,
  firstOperation: Html,
): Html =>
  html`<!doctype html>
    <html lang="${messages.language.tag}" dir="${messages.language.direction}">
      <head>
        <meta charset="utf-8" />
        <meta property="csp-nonce" content="${nonce}" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>${messages.start.reference} - ${shop.name}</title>
        <link rel="icon" href="${getFaviconPath(shop)}" />
        <link rel="modulepreload" href="${library}" />
        <link rel="stylesheet" href="${style}" />
        <style nonce="${nonce}">
          ${buildAccentColorRules(shop.accent_color)}
        </style>
        ${scripts.map((path) => html`<script type="module" src="${path}"></script>`)}
      </head>
      <body>
        <nav class="page-header" aria-label="${messages.reference.documents}">
          ${renderShopLogoOrFirstLetter(shop)}
          <a class="home" href="/">${shop.name}</a>
          <div class="links">
            <a href="/openapi.json">OpenAPI 3.1</a>
            <a href="/openapi-3.0.json">OpenAPI 3.0</a>
          </div>
          ${
            languageSwitch &&
            html`<details>
              <summary>${messages.language.name}</summary>
              ${renderLanguageSwitch(messages, languageSwitch)}
            </details>`
          }
        </nav>
        ${firstOperation}
        <div
          id="reference"
          lang="en"
          data-base="${base}"
          data-client-id="${apiReferencePageClientId}"
          data-library="${library}"
          data-nonce="${nonce}"
          data-return="${base}${apiReferencePageRedirectPath}"
        ></div>
        <noscript>
          <p class="plain">${messages.reference.requiresScript} <a href="/openapi.json">OpenAPI 3.1</a></p>
        </noscript>
        ${renderShopLinks(shop, messages)}
      </body>
    </html>`;

/** Returns the rules that replace the default accent color, in light and dark mode. */
function buildAccentColorRules(accent: string): string {
  const { light, dark } = calculateThemeColors(accent);
  const rule = (mode: 'light' | 'dark', { button, button_text: text, link }: typeof light): string =>
    `:root .${mode}-mode { --scalar-color-accent: ${link}; --scalar-link-color: ${link}; --scalar-link-color-hover: ${link}; --scalar-button-1: ${button}; --scalar-button-1-hover: ${button}; --scalar-button-1-color: ${text}; }`;
  return `${rule('light', light)} ${rule('dark', dark)} .page-header .mark { color: ${light.button_text}; background: ${light.button}; }`;
}

const returnPage = ({ shop, messages }: PageSettings): Html =>
  html`<!doctype html>
    <html lang="${messages.language.tag}" dir="${messages.language.direction}">
      <head>
        <meta charset="utf-8" />
        <title>${messages.reference.signedIn} - ${shop.name}</title>
        <link rel="icon" href="${getFaviconPath(shop)}" />
      </head>
      <body>
        <p>${messages.reference.closeWindow}</p>
      </body>
    </html>`;
