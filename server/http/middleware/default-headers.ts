import type { RequestHandler } from 'express';

/** Sets the headers of every response of the API, failures included. Responses of the API are never compressed, so `Vary` does not name `Accept-Encoding`. */
export const answerHeaders: RequestHandler = (_req, res, next) => {
  res.setHeader('Cache-Control', 'no-store').setHeader('X-Content-Type-Options', 'nosniff').setHeader('Vary', 'Accept');
  next();
};
