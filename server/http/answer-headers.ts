import type { RequestHandler } from 'express';

/** What every answer of the API carries, failures included: it is somebody's data, and JSON, and nothing else. */
export const answerHeaders: RequestHandler = (_req, res, next) => {
  res.setHeader('Cache-Control', 'no-store').setHeader('X-Content-Type-Options', 'nosniff').setHeader('Vary', 'Accept, Accept-Encoding');
  next();
};
