import type { Em } from '../entity-manager/entity-manager.ts';

/** Runs a list query on a database that has everything committed before the call. */
export type ReadList = <Result>(list: (em: Em) => Promise<Result>) => Promise<Result>;

export const listsFrom =
  (em: Em): ReadList =>
  (list) =>
    list(em);
