import type { ErrorRequestHandler, RequestHandler } from 'express';
import { errors } from 'oidc-provider';
import { isDatabaseUnavailable, isStorageInsufficient, storageRetryAfterSeconds } from '../../../database/errors/availability-errors.ts';
import { isWriteRefusal } from '../../../database/storage/storage-reserve.ts';
import { TooManyAttemptsError } from '../../brute-force/attempt-limits.ts';
import { loggedPath } from '../../protocol/redacted-path.ts';
import { sendPage, type PageContext } from './page-context.ts';
import { failurePage, signInLinkPage } from '../views/message-pages.ts';
import { TooBusyError } from '../../passwords/password-hash.ts';

/** What people see when a page could not be shown. Nothing of the cause, which goes to the log. */
export const failureHandler =
  (context: PageContext, log: { error(details: object, message: string): void }): ErrorRequestHandler =>
  (error: unknown, req, res, next) => {
    if (res.headersSent) return next(error);
    const { setting } = context;
    const { failure } = setting.words;
    if (error instanceof errors.SessionNotFound) {
      return sendPage(context, res, failurePage(setting, failure.expiredTitle, failure.expired), { status: 400 });
    }
    if (error instanceof TooBusyError) {
      res.set('Retry-After', '5');
      return sendPage(context, res, failurePage(setting, failure.busyTitle, failure.busy), { status: 503 });
    }
    if (error instanceof TooManyAttemptsError) {
      const { title, text, back } = setting.words.tooMany;
      res.set('Retry-After', String(error.retryAfterSeconds));
      const html = signInLinkPage(setting, title, text(Math.ceil(error.retryAfterSeconds / 60)), back);
      return sendPage(context, res, html, { status: 429 });
    }
    const status = requestFault(error);
    if (status !== undefined) {
      return sendPage(context, res, failurePage(setting, failure.unreadableTitle, failure.unreadable), { status });
    }
    if (!isWriteRefusal(error)) log.error({ err: error, path: loggedPath(req.path) }, 'page failed');
    const unavailable = isDatabaseUnavailable(error);
    if (unavailable) res.set('Retry-After', isStorageInsufficient(error) ? String(storageRetryAfterSeconds) : '1');
    return sendPage(context, res, failurePage(setting, failure.title, failure.text), { status: unavailable ? 503 : 500 });
  };

/** The status of what a body parser or the router found wrong with the request. */
function requestFault(error: unknown): number | undefined {
  const status = error instanceof Error && 'status' in error ? error.status : undefined;
  return typeof status === 'number' && status >= 400 && status < 500 ? status : undefined;
}

/** 403: a page of another site sent the form. */
export const otherSite =
  (context: PageContext): RequestHandler =>
  (_req, res) => {
    const { setting, provider } = context;
    const { failure } = setting.words;
    return sendPage(context, res, failurePage(setting, failure.otherSiteTitle, failure.otherSite(provider.issuer)), { status: 403 });
  };

/** 421: the request is for a host that this is not. */
export const wrongHost =
  (context: PageContext): RequestHandler =>
  (req, res) => {
    const { setting, provider } = context;
    const { failure } = setting.words;
    if (req.accepts(['json', 'html']) === 'html') {
      return sendPage(context, res, failurePage(setting, failure.wrongHostTitle, failure.wrongHost(provider.issuer)), { status: 421 });
    }
    return res.status(421).json({ error: 'invalid_request', error_description: `this server is ${provider.issuer}` });
  };
