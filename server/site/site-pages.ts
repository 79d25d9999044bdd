import { readFileSync } from 'node:fs';
import express, { type RequestHandler, type Response, type Router } from 'express';
import { staticDocument } from '../http/response/static-document.ts';
import type { Html } from '../oauth/pages/views/html.ts';
import { pageHeaders } from '../oauth/pages/assets/page-security-headers.ts';
import type { Setting } from '../oauth/pages/views/page-layout.ts';
import { notFoundPage, startPage } from './start-page.ts';

type Options = { readonly issuer: string; readonly development: boolean };

/** `/`, the start page, and the files that browsers and crawlers request on their own. */
export function sitePages(given: Setting, options: Options): Router {
  const page = startPage(withoutScript(given), options);
  return express
    .Router({ caseSensitive: true, strict: true })
    .get('/', (_req, res) => send(res, options.issuer, page))
    .use(rootFiles());
}

/** Files that belong to the root of the host; pages also link to those below the path of the issuer. */
export const rootFiles = (): Router =>
  express
    .Router({ caseSensitive: true, strict: true })
    .get('/favicon.ico', staticDocument('image/x-icon', readFavicon, 'public, max-age=86400'))
    .get(
      '/robots.txt',
      staticDocument('text/plain', () => Buffer.from(robots), 'public, max-age=86400'),
    );

const readFavicon = (): Buffer => readFileSync(new URL('favicon.ico', import.meta.url));

/** Search engines have nothing to index: the pages are for users who are signed in or about to sign in. */
const robots = 'User-agent: *\nDisallow: /\n';

/** Responds to unknown paths with a page where the client prefers HTML, as browsers do. Other clients get the problem document. */
export function unknownPage(given: Setting, issuer: string): RequestHandler {
  const page = notFoundPage(withoutScript(given));
  return (req, res, next) => {
    res.vary('Accept');
    if (!['GET', 'HEAD'].includes(req.method) || req.accepts(['json', 'html']) !== 'html') return next();
    return send(res.status(404), issuer, page);
  };
}

const withoutScript = (setting: Setting): Setting => ({ ...setting, scriptPath: undefined });

const send = (res: Response, issuer: string, page: Html): void => void res.set(pageHeaders(issuer)).type('html').send(page.toString());
