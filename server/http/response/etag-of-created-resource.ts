import type { Response } from 'express';
import { getRequestContext } from '../request/request-context-principal-and-access-log.ts';
import { formatEtag } from './etag-and-conditional-requests.ts';

type CreatedResource = { readonly id: number; readonly version: number };

/** Makes this response and its replays contain the ETag of the created resource. */
export function enableEtagOfCreatedResource(res: Response, formatName: (id: number) => string): void {
  getRequestContext(res.req).formatCreatedEtagName = formatName;
}

/** Sets the ETag if it is enabled. `body` is called only if the ETag is enabled. */
export function setEtagOfCreatedResourceIfEnabled(res: Response, body: () => unknown): void {
  const { formatCreatedEtagName: formatName } = getRequestContext(res.req);
  if (!formatName) return;
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the body of a created resource, as the contract declares it
  const created = body() as CreatedResource;
  res.set('ETag', formatEtag(formatName(created.id), created));
}
