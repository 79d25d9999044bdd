import type { Response } from 'express';
import { defineObjectMetadata } from '../../memory/object-metadata.ts';
import { formatEtag } from './etag.ts';

type CreatedResource = { readonly id: number; readonly version: number };

const etagNames = defineObjectMetadata<(id: number) => string>('name of the ETag');

/** Enables the created resource's ETag for this response and its replays. */
export const enableCreatedEtag = (res: Response, formatName: (id: number) => string): void => etagNames.set(res, formatName);

/** Sets the ETag if it is enabled. `body` is called only in that case. */
export function setCreatedEtag(res: Response, body: () => unknown): void {
  const formatName = etagNames.get(res);
  if (!formatName) return;
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the body of a created resource, as the contract declares it
  const created = body() as CreatedResource;
  res.set('ETag', formatEtag(formatName(created.id), created));
}
