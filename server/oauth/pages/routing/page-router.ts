import express, { type RequestHandler } from 'express';
import { z } from 'zod';
import { reduceChunkedBodyLimitTo } from '../../../http/request/reject-chunked-body-over-limit.ts';
import { getOauthRequestContext } from '../../protocol/oauth-request-context.ts';
import { createSessionAndAccountLoadingMiddleware } from '../../sessions/load-start-and-end-browser-session.ts';
import { localizePageContext, type PageContext } from './page-context.ts';
import { createLanguageSwitchButtonMiddleware } from '../views/select-and-store-page-language.ts';
import { sendCrossSiteErrorPage } from './page-error-handler.ts';
import { createMultipartFormParser } from './multipart-form-parser.ts';
import { createBrandingReloadMiddleware } from './branding-reload-middleware.ts';
import { rejectCrossSiteForms } from './reject-cross-site-forms.ts';

type Paths = string | readonly string[];

/** Creates the request handler of a page or form. The context contains the settings in the language of the request. */
export type PageHandler = (context: PageContext) => RequestHandler;

const formBytesMax = 16 * 1024;

const formBody = z.object({ csrf: z.string() });

/** Registers pages and forms. State-changing handlers can be registered only with `addForm`, which always adds CSRF protection. */
export class PageRouter {
  /** Paths of all registered forms. */
  readonly formPaths: string[] = [];
  readonly router = express.Router({ caseSensitive: true, strict: true });
  readonly #context: PageContext;
  readonly #beforePage: readonly RequestHandler[];
  readonly #beforeForm: readonly RequestHandler[];
  readonly #session: RequestHandler;

  /** @param requireHost rejects requests for any other host */
  constructor(context: PageContext, requireHost: RequestHandler) {
    const branding = createBrandingReloadMiddleware(context.settings);
    this.#context = context;
    this.#session = createSessionAndAccountLoadingMiddleware(context);
    this.#beforePage = [branding, requireHost, this.#session];
    this.#beforeForm = [branding, requireHost, rejectCrossSiteForms(context.provider.issuer, sendCrossSiteErrorPage(context))];
  }

  /** Registers a page that does not change state. */
  addPage(paths: Paths, show: PageHandler): this {
    this.router.get([paths].flat(), ...this.#beforePage, (req, res, next) => this.#handle(show, req, res, next));
    return this;
  }

  /**
   * Registers a page to which an identity provider redirects the browser. The page's handler can change state, and verifies that this
   * browser started the sign-in. A provider response can be used only once.
   */
  addCallback(paths: Paths, handle: PageHandler): this {
    return this.addPage(paths, (context) => (req, res, next) => {
      getOauthRequestContext(req).isShownOnlyOnce = true;
      return handle(context)(req, res, next);
    });
  }

  /**
   * Registers a form.
   * @param submit handles a form that has a valid CSRF token
   * @param stale handles a form without a valid CSRF token: tells the user to submit the form again
   * @param uploadBytesMax maximum size of a form with files; absent for a form without files
   */
  addForm(paths: Paths, submit: PageHandler, stale: PageHandler, uploadBytesMax?: number): this {
    const readFiles = uploadBytesMax === undefined ? [] : createMultipartFormParser(uploadBytesMax);
    const checkToken: RequestHandler = (req, res, next) => {
      const { data } = formBody.safeParse(req.body);
      return this.#handle(data && this.#context.forms.verify(req, data.csrf) ? submit : stale, req, res, next);
    };
    this.formPaths.push(...[paths].flat());
    const readForm = [...readFiles, readUrlEncodedForm, this.#session, createLanguageSwitchButtonMiddleware(this.#context.settings)];
    this.router.post([paths].flat(), ...this.#beforeForm, ...readForm, checkToken);
    return this;
  }

  #handle(handler: PageHandler, ...[req, res, next]: Parameters<RequestHandler>): ReturnType<RequestHandler> {
    return handler(localizePageContext(this.#context, req))(req, res, next);
  }
}

const parseForm = express.urlencoded({ extended: false, limit: formBytesMax, parameterLimit: 200 });

const readUrlEncodedForm: RequestHandler = (req, res, next) => {
  if (req.body !== undefined) return next();
  reduceChunkedBodyLimitTo(req, formBytesMax);
  return parseForm(req, res, next);
};
