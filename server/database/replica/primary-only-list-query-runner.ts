import type { EntityManager } from '../entity-manager/entity-manager-type.ts';

/** Runs a list query on a database that contains everything committed before the call. */
export type RunListQuery = <Result>(list: (em: EntityManager) => Promise<Result>) => Promise<Result>;

/** Runs every list query on the primary. `ReplicaWithPrimaryFallback` replaces this runner if a replica is configured. */
export const createPrimaryOnlyListQueryRunner =
  (em: EntityManager): RunListQuery =>
  (list) =>
    list(em);
