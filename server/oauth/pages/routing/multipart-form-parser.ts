import express, { type RequestHandler } from 'express';
import { reduceChunkedBodyLimitTo } from '../../../http/request/reject-chunked-body-over-limit.ts';

const multipart = 'multipart/form-data';

/** Thrown if a form body cannot be parsed. The page error handler responds with the `status` of this error. */
class MalformedFormError extends Error {
  override readonly name = 'MalformedFormError';
  readonly status = 400;
}

/**
 * Creates the middleware that parses a form with files (`multipart/form-data`, RFC 7578) into `req.body`: text fields as strings, files as
 * `File`. Forms of other media types are ignored.
 */
export function createMultipartFormParser(maxBytes: number): RequestHandler[] {
  const readBytes = express.raw({ type: multipart, limit: maxBytes });
  return [
    (req, res, next) => {
      if (req.is(multipart) === false) return next();
      reduceChunkedBodyLimitTo(req, maxBytes);
      return readBytes(req, res, next);
    },
    async (req, _res, next) => {
      const body: unknown = req.body;
      if (Buffer.isBuffer(body)) req.body = await parseFormData(body, req.get('content-type') ?? '');
      next();
    },
  ];
}

async function parseFormData(body: Buffer, contentType: string): Promise<Record<string, unknown>> {
  try {
    return Object.fromEntries(await new Response(new Uint8Array(body), { headers: { 'content-type': contentType } }).formData());
  } catch (cause) {
    throw new MalformedFormError('the form could not be parsed', { cause });
  }
}
