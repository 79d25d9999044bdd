import type { Response } from 'express';
import { noteOf } from '../../memory/object-metadata.ts';
import { etagOf } from './etag.ts';

type CreatedResource = { readonly id: number; readonly version: number };

const etagNames = noteOf<(id: number) => string>('name of the ETag');

/** Enables the ETag of the created resource for this response and its replays. */
export const returnCreatedEtag = (res: Response, formatName: (id: number) => string): void => etagNames.set(res, formatName);

/** Sets the ETag if it is enabled. Only then is `body` called. */
export function setCreatedEtag(res: Response, body: () => unknown): void {
  const formatName = etagNames.get(res);
  if (!formatName) return;
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the body of a created resource, as the contract declares it
  const created = body() as CreatedResource;
  res.set('ETag', etagOf(formatName(created.id), created));
}
