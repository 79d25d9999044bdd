import type { ServerResponse } from 'node:http';
import type { Express } from 'express';
import { getRequestContext } from '../request/request-context-principal-and-access-log.ts';

/**
 * Replaces Express's `res.json`, which looks up settings, media type and encodings for each response. The lookups cost more than
 * serializing the JSON.
 */
export const replaceExpressResponseJsonMethod = (app: Express): void =>
  void Object.defineProperty(app.response, 'json', { value: sendJson });

/** Makes the next `res.json` send this text instead of serializing the body, so that replays are identical byte for byte. */
export function makeNextJsonResponseSendText(res: ServerResponse, text: string): void {
  getRequestContext(res.req).rawJsonBody = text;
}

function sendJson<SomeResponse extends ServerResponse>(this: SomeResponse, body: unknown): SomeResponse {
  const text = getRequestContext(this.req).rawJsonBody ?? JSON.stringify(body);
  if (!this.hasHeader('Content-Type')) this.setHeader('Content-Type', 'application/json; charset=utf-8');
  this.setHeader('Content-Length', Buffer.byteLength(text)).end(this.req.method === 'HEAD' ? undefined : text);
  return this;
}
