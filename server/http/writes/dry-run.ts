import type { Response } from 'express';
import type { Em } from '../../database/entity-manager/entity-manager.ts';
import type { RoutedRequest } from '../request/matched-route.ts';

/** Whether the caller only wants to see the response. The contract refuses `dry_run` on operations that do not declare it. */
export const isDryRun = ({ query }: RoutedRequest): boolean =>
  typeof query === 'object' && query !== null && 'dry_run' in query && query.dry_run === 'true';

class DryRunRollback extends Error {}

/** Runs `effect` in a transaction that is always rolled back, and marks the response. Errors of `effect` are thrown as usual. */
export async function rollBackAfter<Result>(em: Em, res: Response, effect: (em: Em) => Promise<Result>): Promise<Result> {
  const results: Result[] = [];
  await em
    .transactional(async (inner) => {
      results.push(await effect(inner));
      throw new DryRunRollback();
    })
    .catch((error: unknown) => {
      if (!(error instanceof DryRunRollback)) throw error;
    });
  res.set('Mandate-Dry-Run', 'true');
  const [result] = results;
  if (result === undefined) throw new Error('the dry run returned no result');
  return result;
}
