import { p } from '@mikro-orm/core';

/** Properties for an entity's version (ETag), creation time and update time. */
export const versionAndTimestampProperties = () => ({
  version: p.integer().version(),
  createdAt: p.datetime(3).defaultRaw('now()'),
  updatedAt: p
    .datetime(3)
    .defaultRaw('now()')
    .onUpdate(() => new Date()),
});
