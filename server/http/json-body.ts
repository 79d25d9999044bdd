import { isUtf8 } from 'node:buffer';
import express, { type RequestHandler } from 'express';
import { metadataOf } from '@mandate/contract';
import { problem } from './problem.ts';
import { routeOf } from './route-of-request.ts';

const usualMax = 100_000;
const depthMax = 32;
const mediaTypes = ['application/json'];
/** RFC 7396; a plain JSON body means the same. */
const patchMediaTypes = ['application/merge-patch+json', ...mediaTypes];

/** Reads the body after the caller was let in: who may not call cannot make the server parse. */
export const jsonBody: RequestHandler = (req, res, next) => {
  const route = routeOf(req);
  if (!('body' in route)) return next();
  const { consumes, bodyMax = usualMax } = metadataOf(route);
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
  const charset = /;\s*charset="?([^";\s]+)/i.exec(req.get('content-type') ?? '')?.[1] ?? 'utf-8';
  if (!/^utf-8$/i.test(charset)) throw problem('unsupported_media_type', { detail: 'Send the body in UTF-8.' });
  return parser(bodyMax)(req, res, next);
};

const parsers = new Map<number, RequestHandler>();

function parser(limit: number): RequestHandler {
  const known =
    parsers.get(limit) ?? express.json({ limit, type: patchMediaTypes, verify: (_req, _res, bytes) => refuseUnreadable(bytes) });
  parsers.set(limit, known);
  return known;
}

/** What a parser would take and nobody can have meant: other bytes than UTF-8, and brackets within brackets without end. */
function refuseUnreadable(bytes: Buffer): void {
  if (!isUtf8(bytes)) throw problem('malformed_json', { detail: 'The body is not valid UTF-8.' });
  if (depthOf(bytes) > depthMax) throw problem('malformed_json', { detail: `The body is nested deeper than ${depthMax} levels.` });
}

const [quote, backslash, opening, closing] = [0x22, 0x5c, new Set([0x5b, 0x7b]), new Set([0x5d, 0x7d])];

/** How deep arrays and objects stand within each other. */
function depthOf(bytes: Buffer): number {
  let [depth, deepest, inText] = [0, 0, false];
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at] ?? 0;
    if (inText && byte === backslash) at += 1;
    else if (byte === quote) inText = !inText;
    else if (!inText && opening.has(byte)) deepest = Math.max(deepest, (depth += 1));
    else if (!inText && closing.has(byte)) depth -= 1;
  }
  return deepest;
}
