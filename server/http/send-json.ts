import type { ServerResponse } from 'node:http';

/**
 * `res.json` without what Express does for answers of every kind: what it looks up of the type, of settings and of encodings for
 * each one costs more than the text.
 */
export function sendJson<Answer extends ServerResponse>(this: Answer, body: unknown): Answer {
  const text = JSON.stringify(body);
  if (!this.hasHeader('Content-Type')) this.setHeader('Content-Type', 'application/json; charset=utf-8');
  this.setHeader('Content-Length', Buffer.byteLength(text)).end(text);
  return this;
}
