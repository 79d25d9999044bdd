import express, { type RequestHandler } from 'express';
import { lowerChunkedBodyLimit } from '../../../http/request/limit-chunked-body-size.ts';

/** Returned with status 400 by the page error handler. */
class MalformedFormError extends Error {
  override readonly name = 'MalformedFormError';
  readonly status = 400;
}

/**
 * Reads a form with files (`multipart/form-data`, RFC 7578) into `req.body`: text fields as strings, files as `File`.
 * @param readOther reads a form with another media type
 */
export function readMultipartForm(maxBytes: number, readOther: RequestHandler): RequestHandler {
  const readBody = express.raw({ type: 'multipart/form-data', limit: maxBytes });
  return (req, res, next) => {
    if (req.is('multipart/form-data') === false) return readOther(req, res, next);
    lowerChunkedBodyLimit(req, maxBytes);
    readBody(req, res, (error?: unknown) => {
      if (error !== undefined) return next(error);
      const { body }: { body: unknown } = req;
      req.body = undefined;
      if (!Buffer.isBuffer(body)) return next();
      parseFormData(body, req.get('content-type') ?? '').then(
        (fields) => {
          req.body = fields;
          next();
        },
        (cause: unknown) => next(new MalformedFormError('the form could not be parsed', { cause })),
      );
    });
  };
}

async function parseFormData(body: Buffer, contentType: string): Promise<Record<string, unknown>> {
  const form = await new Response(new Uint8Array(body), { headers: { 'content-type': contentType } }).formData();
  return Object.fromEntries(form);
}
