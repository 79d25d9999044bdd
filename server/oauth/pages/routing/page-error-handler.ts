import type { ErrorRequestHandler, RequestHandler } from 'express';
import { errors } from 'oidc-provider';
import {
  isTemporaryDatabaseError,
  isDiskFullError,
  lowDiskSpaceRetryAfterSeconds,
} from '../../../database/errors/database-error-predicates.ts';
import { isLowDiskSpaceRejectionError } from '../../../database/storage/disk-space-monitor.ts';
import { TooManyAttemptsError } from '../../brute-force/attempt-limiter.ts';
import { redactInteractionIdInPath } from '../../protocol/redact-interaction-id.ts';
import { localizePageContext, sendPage, type PageContext } from './page-context.ts';
import { errorPage, messagePageWithSignInLink } from '../views/message-pages.ts';
import { PasswordHashQueueFullError } from '../../passwords/argon2id/password-hash-slots.ts';

/** Handles errors in page requests: sends an error page that does not state the cause, and logs the cause. */
export const createPageErrorHandler =
  (defaultContext: PageContext, log: { error(details: object, message: string): void }): ErrorRequestHandler =>
  (error: unknown, req, res, next) => {
    if (res.headersSent) return next(error);
    const context = localizePageContext(defaultContext, req);
    const { settings } = context;
    const { failure } = settings.messages;
    if (error instanceof errors.SessionNotFound) {
      return sendPage(context, res, errorPage(settings, failure.expiredTitle, failure.expired), { status: 400 });
    }
    if (error instanceof PasswordHashQueueFullError) {
      res.set('Retry-After', '5');
      return sendPage(context, res, errorPage(settings, failure.busyTitle, failure.busy), { status: 503 });
    }
    if (error instanceof TooManyAttemptsError) {
      const { title, text, back } = settings.messages.tooMany;
      res.set('Retry-After', String(error.retryAfterSeconds));
      const html = messagePageWithSignInLink(settings, title, text({ minutes: Math.ceil(error.retryAfterSeconds / 60) }), back);
      return sendPage(context, res, html, { status: 429 });
    }
    const status = clientErrorStatus(error);
    if (status !== undefined) {
      return sendPage(context, res, errorPage(settings, failure.unreadableTitle, failure.unreadable), { status });
    }
    if (!isLowDiskSpaceRejectionError(error)) log.error({ err: error, path: redactInteractionIdInPath(req.path) }, 'page failed');
    const unavailable = isTemporaryDatabaseError(error);
    if (unavailable) res.set('Retry-After', isDiskFullError(error) ? String(lowDiskSpaceRetryAfterSeconds) : '1');
    return sendPage(context, res, errorPage(settings, failure.title, failure.text), { status: unavailable ? 503 : 500 });
  };

/** Returns the 4xx status of an error thrown by a body parser or the router. */
function clientErrorStatus(error: unknown): number | undefined {
  const status = error instanceof Error && 'status' in error ? error.status : undefined;
  return typeof status === 'number' && status >= 400 && status < 500 ? status : undefined;
}

/** Responds with 403 to a form submitted by a page on another site. */
export const sendCrossSiteErrorPage =
  (defaultContext: PageContext): RequestHandler =>
  (req, res) => {
    const context = localizePageContext(defaultContext, req);
    const { settings, provider } = context;
    const { failure } = settings.messages;
    return sendPage(context, res, errorPage(settings, failure.otherSiteTitle, failure.otherSite({ address: provider.issuer })), {
      status: 403,
    });
  };

/** Responds with 421 to a request for a host other than the issuer's. */
export const sendWrongHostErrorPage =
  (defaultContext: PageContext): RequestHandler =>
  (req, res) => {
    const context = localizePageContext(defaultContext, req);
    const { settings, provider } = context;
    const { failure } = settings.messages;
    if (req.accepts(['json', 'html']) === 'html') {
      const text = failure.wrongHost({ address: provider.issuer });
      const html = errorPage(settings, failure.wrongHostTitle, text, { startPage: provider.issuer });
      return sendPage(context, res, html, { status: 421 });
    }
    return res.status(421).json({ error: 'invalid_request', error_description: `this server is ${provider.issuer}` });
  };
