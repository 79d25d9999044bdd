import type { Em } from '../entity-manager/entity-manager.ts';

/** Runs a list on a database that has everything that was committed when it was asked for. */
export type ReadList = <Result>(list: (em: Em) => Promise<Result>) => Promise<Result>;

export const listsFrom =
  (em: Em): ReadList =>
  (list) =>
    list(em);
