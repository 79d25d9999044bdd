import type { EntityManager } from '../entity-manager/entity-manager.ts';

/** Runs a list query on a database that has everything committed before the call. */
export type ReadList = <Result>(list: (em: EntityManager) => Promise<Result>) => Promise<Result>;

export const createListReader =
  (em: EntityManager): ReadList =>
  (list) =>
    list(em);
