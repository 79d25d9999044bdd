import { readFileSync } from 'node:fs';
import express, { type Request, type RequestHandler, type Response, type Router } from 'express';
import { serveStaticDocument } from '../http/response/serve-static-document.ts';
import { createPageSecurityHeaders } from '../oauth/pages/assets/page-security-headers.ts';
import { localizePageSettingsForRequest, setPageLanguageHeaders } from '../oauth/pages/views/select-and-store-page-language.ts';
import type { PageSettings } from '../oauth/pages/views/page-layout-and-form-fields.ts';
import { renderNotFoundPage, renderStartPage } from './render-start-and-not-found-pages.ts';

type Options = { readonly issuer: string; readonly development: boolean };

/** Serves the start page at `/` and the files that browsers and crawlers request automatically. */
export function serveStartPageAndRootFiles(settings: PageSettings, options: Options): Router {
  return express.Router({ caseSensitive: true, strict: true }).get('/', serveStartPage(settings, options)).use(serveFaviconAndRobotsTxt());
}

const serveStartPage =
  (settings: PageSettings, options: Options): RequestHandler =>
  async (req, res) => {
    await settings.refreshBranding();
    const pageSettings = localizeSettings(settings, req);
    sendPage(res, options.issuer, pageSettings, renderStartPage(pageSettings, options));
  };

/**
 * Serves the files that browsers and crawlers request at the root of the host. If the issuer has a base path, the files are also served
 * below the base path, because pages link to these files.
 */
export const serveFaviconAndRobotsTxt = (): Router =>
  express
    .Router({ caseSensitive: true, strict: true })
    .get('/favicon.ico', serveStaticDocument('image/x-icon', readFavicon, 'public, max-age=86400'))
    .get(
      '/robots.txt',
      serveStaticDocument('text/plain', () => Buffer.from(robotsTxt), 'public, max-age=86400'),
    );

const readFavicon = (): Buffer => readFileSync(new URL('favicon.ico', import.meta.url));

/** Excludes all pages from search engines, because the pages are only for users who are signed in or want to sign in. */
const robotsTxt = 'User-agent: *\nDisallow: /\n';

/** Responds to unknown paths with an HTML page if the client prefers HTML, as browsers do. Other clients receive a problem document. */
export function serveNotFoundPageIfHtmlPreferred(settings: PageSettings, issuer: string): RequestHandler {
  return async (req, res, next) => {
    res.vary('Accept');
    if (!['GET', 'HEAD'].includes(req.method) || req.accepts(['json', 'html']) !== 'html') return next();
    await settings.refreshBranding();
    const pageSettings = localizeSettings(settings, req);
    return sendPage(res.status(404), issuer, pageSettings, renderNotFoundPage(pageSettings));
  };
}

const localizeSettings = (settings: PageSettings, req: Request): PageSettings => ({
  ...localizePageSettingsForRequest(settings, req),
  scriptPath: undefined,
});

function sendPage(res: Response, issuer: string, settings: PageSettings, page: ReturnType<typeof renderStartPage>): void {
  setPageLanguageHeaders(res, settings);
  res.set(createPageSecurityHeaders(issuer)).type('html').send(page.toString());
}
