import type { RequestHandler } from 'express';

/**
 * Sets the headers that every API response has, including error responses. API responses are never compressed, so `Vary` omits
 * `Accept-Encoding`.
 */
export const setDefaultHeaders: RequestHandler = (_req, res, next) => {
  res.setHeader('Cache-Control', 'no-store').setHeader('X-Content-Type-Options', 'nosniff').setHeader('Vary', 'Accept');
  next();
};
