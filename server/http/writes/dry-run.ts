import type { Response } from 'express';
import type { EntityManager } from '../../database/entity-manager/entity-manager-type.ts';
import type { MatchedRequest } from '../request/matched-route.ts';

/** Returns whether the request is a dry run. The contract rejects `dry_run` for operations that do not declare it. */
export const isDryRunRequest = ({ query }: MatchedRequest): boolean =>
  typeof query === 'object' && query !== null && 'dry_run' in query && query.dry_run === 'true';

class DryRunRollback extends Error {}

/** Runs `write` in a transaction that is always rolled back, and marks the response as a dry run. Errors from `write` are rethrown. */
export async function runDryRunInRolledBackTransaction<Result>(
  em: EntityManager,
  res: Response,
  write: (em: EntityManager) => Promise<Result>,
): Promise<Result> {
  const results: Result[] = [];
  await em
    .transactional(async (inner) => {
      results.push(await write(inner));
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
