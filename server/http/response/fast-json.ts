import type { ServerResponse } from 'node:http';
import type { Express } from 'express';
import { defineObjectMetadata } from '../../memory/object-metadata.ts';

/**
 * Replaces Express' `res.json`, which looks up settings, media type and encodings for each response. These lookups cost more than
 * serializing the JSON.
 */
export const installFastJson = (app: Express): void => void Object.defineProperty(app.response, 'json', { value: sendJson });

const rawJsonTexts = defineObjectMetadata<string>('text');

/** Makes the next `res.json` send this text instead of serializing the body, so that replays are identical byte for byte. */
export const setRawJsonBody = (res: ServerResponse, text: string): void => rawJsonTexts.set(res, text);

function sendJson<SomeResponse extends ServerResponse>(this: SomeResponse, body: unknown): SomeResponse {
  const text = rawJsonTexts.get(this) ?? JSON.stringify(body);
  if (!this.hasHeader('Content-Type')) this.setHeader('Content-Type', 'application/json; charset=utf-8');
  this.setHeader('Content-Length', Buffer.byteLength(text)).end(this.req.method === 'HEAD' ? undefined : text);
  return this;
}
