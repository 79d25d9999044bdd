import express, { type RequestHandler } from 'express';
import { z } from 'zod';
import { limitChunkSizes } from '../../../http/request/chunked-body-size.ts';
import { loadSession } from '../../sessions/current-session.ts';
import type { PageContext } from './page-context.ts';
import { otherSite } from './page-error-handler.ts';
import { rejectOtherSites } from './reject-cross-site-forms.ts';

type Paths = string | readonly string[];

const formBytesMax = 16 * 1024;

const formBody = z.object({ csrf: z.string() });

/** Registers pages and forms. State-changing handlers can only be registered by `addForm`, which always adds the CSRF protection. */
export class PageRouter {
  /** Paths of all registered forms. */
  readonly formPaths: string[] = [];
  readonly router = express.Router({ caseSensitive: true, strict: true });
  readonly #context: PageContext;
  readonly #beforePage: readonly RequestHandler[];
  readonly #beforeForm: readonly RequestHandler[];

  /** @param requireHost rejects requests for another host */
  constructor(context: PageContext, requireHost: RequestHandler) {
    const parseForm = express.urlencoded({ extended: false, limit: formBytesMax, parameterLimit: 100 });
    const readForm: RequestHandler = (req, res, next) => {
      limitChunkSizes(req, formBytesMax);
      parseForm(req, res, next);
    };
    const session = loadSession(context);
    this.#context = context;
    this.#beforePage = [requireHost, session];
    this.#beforeForm = [requireHost, rejectOtherSites(context.provider.issuer, otherSite(context)), readForm, session];
  }

  /** Registers a page that does not change state. */
  page(paths: Paths, show: RequestHandler): this {
    this.router.get([paths].flat(), ...this.#beforePage, show);
    return this;
  }

  /**
   * Registers a form.
   * @param submit handles a form that has a valid token
   * @param stale handles a form without a valid token; usually it shows the form again with a new token
   */
  form(paths: Paths, submit: RequestHandler, stale: RequestHandler): this {
    const checkToken: RequestHandler = (req, res, next) => {
      const { data } = formBody.safeParse(req.body);
      return data && this.#context.forms.accepts(req, data.csrf) ? submit(req, res, next) : stale(req, res, next);
    };
    this.formPaths.push(...[paths].flat());
    this.router.post([paths].flat(), ...this.#beforeForm, checkToken);
    return this;
  }
}
