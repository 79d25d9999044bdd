import { isUtf8 } from 'node:buffer';
import express, { type RequestHandler } from 'express';
import { metadataOf, usualBodyMax } from '@mandate/contract';
import { noteOf } from '../../memory/object-metadata.ts';
import { limitChunkSizes } from '../request/chunked-body-size.ts';
import { findDuplicateKey, type JsonMeasure, measureJson } from '../validation/json-measure.ts';
import { invalidRequest, problem, type Problem } from '../problem-details/problem.ts';
import { routeOf } from '../request/matched-route.ts';

const depthMax = 32;
const mediaTypes = ['application/json'];
/** RFC 7396; a plain JSON body means the same. */
const patchMediaTypes = ['application/merge-patch+json', ...mediaTypes];

/** Reads the body after the caller was let in: who may not call cannot make the server parse. */
export const jsonBody: RequestHandler = (req, res, next) => {
  const route = routeOf(req);
  if (!('body' in route)) return next();
  const { consumes, bodyMax = usualBodyMax } = metadataOf(route);
  const accepted = consumes ?? (route.method === 'PATCH' ? patchMediaTypes : mediaTypes);
  // That a body is missing is for the validation to say.
  const empty = req.get('content-length') === '0';
  if (!empty && req.is([...accepted]) === false) {
    throw problem('unsupported_media_type', {
      detail: `Send the body as ${accepted.join(' or ')}.`,
      ...(route.method === 'PATCH' && { headers: { 'Accept-Patch': accepted.join(', ') } }),
    });
  }
  if (consumes) return next();
  limitChunkSizes(req, bodyMax);
  const charset = /;\s*charset="?([^";\s]+)/i.exec(req.get('content-type') ?? '')?.[1] ?? 'utf-8';
  if (!/^utf-8$/i.test(charset)) throw problem('unsupported_media_type', { detail: 'Send the body in UTF-8.' });
  return parser(bodyMax)(req, res, next);
};

const parsers = new Map<number, RequestHandler>();
const bodies = noteOf<{ readonly bytes: Buffer; readonly measure: JsonMeasure }>('JSON text');

function parser(limit: number): RequestHandler {
  const known = parsers.get(limit) ?? strictParser(limit);
  parsers.set(limit, known);
  return known;
}

function strictParser(limit: number): RequestHandler {
  const parse = express.json({
    limit,
    type: patchMediaTypes,
    verify: (req, _res, bytes) => bodies.set(req, { bytes, measure: measureReadable(bytes) }),
  });
  return (req, res, next) =>
    parse(req, res, (error?: unknown) => {
      if (error !== undefined) return next(error);
      const text = bodies.get(req);
      const duplicate = text && findDuplicateKey(text.bytes, req.body, text.measure);
      return duplicate === undefined ? next() : next(duplicateKey(duplicate));
    });
}

/** What a parser would take and nobody can have meant: other bytes than UTF-8, and brackets within brackets without end. */
function measureReadable(bytes: Buffer): JsonMeasure {
  if (!isUtf8(bytes)) throw problem('malformed_json', { detail: 'The body is not valid UTF-8.' });
  const measure = measureJson(bytes);
  if (measure.depth > depthMax) throw problem('malformed_json', { detail: `The body is nested deeper than ${depthMax} levels.` });
  return measure;
}

const duplicateKey = (pointer: string): Problem =>
  invalidRequest({ in: 'body', pointer, code: 'duplicate_field', detail: 'This field occurs twice in one object. Send it once.' });
