import type { Response } from 'express';
import { noteOf } from '../../memory/object-metadata.ts';
import { etagOf } from './etag.ts';

type Created = { readonly id: number; readonly version: number };

const names = noteOf<(id: number) => string>('name of the ETag');

/** Adds the ETag of the created resource to the response, and to each replay of it. */
export const returnCreatedEtag = (res: Response, nameOf: (id: number) => string): void => names.set(res, nameOf);

/** Sets that ETag. `body` is called only where an ETag was asked for. */
export function setCreatedEtag(res: Response, body: () => unknown): void {
  const nameFromId = names.get(res);
  if (!nameFromId) return;
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the body of a created resource, as the contract declares it
  const created = body() as Created;
  res.set('ETag', etagOf(nameFromId(created.id), created));
}
