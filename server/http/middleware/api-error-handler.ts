import { RequestValidationError } from '@ts-rest/express';
import type { ErrorRequestHandler } from 'express';
import type { Logger } from 'pino';
import { problemDeclarations, type ProblemCode } from '@mandate/contract';
import { z } from 'zod';
import {
  isDatabaseUnreachableError,
  isDatabaseContentionError,
  isDiskFullError,
  lowDiskSpaceRetryAfterSeconds,
} from '../../database/errors/database-error-predicates.ts';
import { isLowDiskSpaceRejectionError } from '../../database/storage/disk-space-monitor.ts';
import { bundledLanguages, type Languages } from '../../languages/languages.ts';
import { ReplayedResponseSignal } from '../writes/idempotency.ts';
import { createPayloadTooLargeProblem, Problem, createProblem } from '../problem-details/problem.ts';
import { translateProblem } from '../problem-details/translate-problem.ts';
import { negotiateLanguage } from '../request/negotiate-language.ts';
import { getRequestContext } from '../request/request-context-principal-and-access-log.ts';
import { getMatchedRoute } from '../request/matched-route.ts';
import { createValidationProblem } from '../validation/validation-problem.ts';

/** Writes every error response under `/api` as problem details (RFC 9457), regardless of what was thrown. */
export const createApiErrorHandler =
  (origin: string, log: Logger, languages: Languages = bundledLanguages): ErrorRequestHandler =>
  (error: unknown, req, res, next) => {
    if (res.headersSent) return next(error);
    if (error instanceof ReplayedResponseSignal) return error.send(res);
    const problemToSend = error instanceof RequestValidationError ? createValidationProblem(error, getMatchedRoute(req)) : toProblem(error);
    const { status } = problemDeclarations[problemToSend.code];
    const language = negotiateLanguage(req, languages) ?? languages.default;
    const { title, detail, errors, languageTags } = translateProblem(problemToSend, language);
    const { id } = getRequestContext(req);
    // Low disk space is logged once, not for each request.
    if (status >= 500 && !isLowDiskSpaceRejectionError(problemToSend.cause))
      log.error({ request_id: id, err: problemToSend.cause ?? problemToSend }, 'a request failed');
    res
      .status(status)
      .set({ ...problemToSend.headers, 'Content-Type': 'application/problem+json', 'Content-Language': languageTags.join(', ') });
    res.vary('Accept-Language');
    const body = {
      type: `${origin}/problems/${problemToSend.code}`,
      title,
      status,
      code: problemToSend.code,
      detail,
      instance: `urn:mandate:request:${id}`,
      request_id: id,
      ...(problemToSend.violatedPolicies && { violated_policies: problemToSend.violatedPolicies }),
      ...(errors && { errors }),
    };
    // The response is sent as a buffer, because Express would add a charset parameter to a string response, and this media type does not
    // define that parameter.
    res.send(Buffer.from(JSON.stringify(body)));
  };

const httpError = z.object({ type: z.string(), status: z.number(), limit: z.number() }).partial();

const bodyProblems: Record<string, { code: ProblemCode; detail: string }> = {
  'entity.parse.failed': { code: 'malformed_json', detail: 'The body must be a JSON object.' },
  'charset.unsupported': { code: 'unsupported_media_type', detail: 'Send the body in UTF-8.' },
  'encoding.unsupported': { code: 'unsupported_media_type', detail: 'Send the body without this Content-Encoding.' },
  'request.aborted': { code: 'invalid_request', detail: 'The body is incomplete.' },
  'request.size.invalid': { code: 'invalid_request', detail: 'The length of the body does not match Content-Length.' },
};

function toProblem(error: unknown): Problem {
  if (error instanceof Problem) return error;
  if (isDiskFullError(error)) {
    return createProblem('insufficient_storage', {
      detail:
        'The server does not have enough disk space to save changes, so nothing was changed. Read requests still work. Send the request again later; if you use the same Idempotency-Key, it will not be executed twice.',
      headers: { 'Retry-After': String(lowDiskSpaceRetryAfterSeconds) },
      cause: error,
    });
  }
  if (isDatabaseUnreachableError(error)) {
    return createProblem('unavailable', {
      detail: 'The database cannot be reached. Send the request again; if you use the same Idempotency-Key, it will not be executed twice.',
      headers: { 'Retry-After': '1' },
      cause: error,
    });
  }
  if (isDatabaseContentionError(error)) {
    return createProblem('unavailable', {
      detail: 'The request timed out and was not processed. Retry it.',
      headers: { 'Retry-After': '1' },
      cause: error,
    });
  }
  const { type, status, limit } = httpError.safeParse(error).data ?? {};
  if (type === 'entity.too.large' && limit !== undefined) return createPayloadTooLargeProblem(limit, error);
  const known = bodyProblems[type ?? ''];
  if (known) return createProblem(known.code, { detail: known.detail, cause: error });
  if (error instanceof URIError || status === 400)
    return createProblem('invalid_request', { detail: 'The URL is not well formed.', cause: error });
  return createProblem('internal_error', {
    detail: 'The request was not processed. Retry it; if the error persists, send the request ID to support.',
    cause: error,
  });
}
