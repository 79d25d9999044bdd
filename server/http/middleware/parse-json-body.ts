import { isUtf8 } from 'node:buffer';
import express, { type RequestHandler } from 'express';
import { getRouteMetadata, defaultMaxBodyBytes } from '@mandate/contract';
import { reduceChunkedBodyLimitTo } from '../request/reject-chunked-body-over-limit.ts';
import { findDuplicateKey, type JsonComplexity, measureJsonComplexity } from '../validation/json-complexity-and-duplicate-keys.ts';
import { createInvalidRequestProblem, createProblem, type Problem } from '../problem-details/problem.ts';
import { translatable } from '../problem-details/translatable-text.ts';
import { getMatchedRoute } from '../request/matched-route.ts';
import { getRequestContext } from '../request/request-context-principal-and-access-log.ts';

/** Maximum nesting depth of a JSON body. */
export const maxJsonDepth = 32;
const mediaTypes = ['application/json'];
/** Media types of a merge patch (RFC 7396). A plain JSON body is also treated as a merge patch. */
const patchMediaTypes = ['application/merge-patch+json', ...mediaTypes];

/** Parses the JSON body. Runs after authorization, so that unauthorized clients cannot make the server parse their bodies. */
export const parseJsonBody: RequestHandler = (req, res, next) => {
  const route = getMatchedRoute(req);
  if (!('body' in route)) return next();
  const { consumes, bodyMax = defaultMaxBodyBytes } = getRouteMetadata(route);
  const accepted = consumes ?? (route.method === 'PATCH' ? patchMediaTypes : mediaTypes);
  // A missing body is reported by validation.
  const isEmpty = req.get('content-length') === '0';
  if (!isEmpty && req.is([...accepted]) === false) {
    throw createProblem('unsupported_media_type', {
      detail: translatable`Send the body as ${{ types: { anyOf: accepted } }}.`,
      ...(route.method === 'PATCH' && { headers: { 'Accept-Patch': accepted.join(', ') } }),
    });
  }
  if (consumes) return next();
  reduceChunkedBodyLimitTo(req, bodyMax);
  const charset = /;\s*charset="?([^";\s]+)/i.exec(req.get('content-type') ?? '')?.[1] ?? 'utf-8';
  if (!/^utf-8$/i.test(charset)) throw createProblem('unsupported_media_type', { detail: 'Send the body in UTF-8.' });
  return parserFor(bodyMax)(req, res, next);
};

const parsersByLimit = new Map<number, RequestHandler>();

function parserFor(limit: number): RequestHandler {
  const cached = parsersByLimit.get(limit) ?? createStrictParser(limit);
  parsersByLimit.set(limit, cached);
  return cached;
}

function createStrictParser(limit: number): RequestHandler {
  const parse = express.json({
    limit,
    type: patchMediaTypes,
    verify: (req, _res, bytes) => {
      getRequestContext(req).jsonBody = { bytes, complexity: measureReadable(bytes) };
    },
  });
  return (req, res, next) =>
    parse(req, res, (error?: unknown) => {
      if (error !== undefined) return next(error);
      const { jsonBody } = getRequestContext(req);
      const duplicate = jsonBody && findDuplicateKey(jsonBody.bytes, req.body, jsonBody.complexity);
      return duplicate === undefined ? next() : next(duplicateKey(duplicate));
    });
}

/** Rejects JSON with invalid UTF-8 or excessive nesting. A parser would accept such JSON, but no client sends it intentionally. */
function measureReadable(bytes: Buffer): JsonComplexity {
  if (!isUtf8(bytes)) throw createProblem('malformed_json', { detail: 'The body is not valid UTF-8.' });
  const measure = measureJsonComplexity(bytes);
  if (measure.depth > maxJsonDepth)
    throw createProblem('malformed_json', { detail: translatable`The body is nested deeper than ${{ levels: maxJsonDepth }} levels.` });
  return measure;
}

const duplicateKey = (pointer: string): Problem =>
  createInvalidRequestProblem({
    in: 'body',
    pointer,
    code: 'duplicate_field',
    detail: 'This field occurs twice in one object. Send it once.',
  });
