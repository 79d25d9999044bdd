import { p } from '@mikro-orm/core';

/** Properties for the version (ETag) of an entity and the times of its creation and last change. */
export const versionAndTimestamps = () => ({
  version: p.integer().version(),
  createdAt: p.datetime(3).defaultRaw('now()'),
  updatedAt: p
    .datetime(3)
    .defaultRaw('now()')
    .onUpdate(() => new Date()),
});
