import { prepareBatchedLookupStatement } from '../../database/queries/batched-statement.ts';

// Written in SQL because the benchmark cases `refresh`, `client-credentials` and `sign-in` run it for every token request (see
// docs/performance.md).
/** Returns the latest expiry of the attempt limits that have been reached, in milliseconds since 1970. */
export const findExpiryOfReachedAttemptLimits = prepareBatchedLookupStatement<{ ends_at: number | null }>(
  'read_attempt_limits_reached',
  ['text', 'int', 'text', 'int'],
  'select max(expire) as ends_at from attempts where (key = $1 and points >= $2) or (key = $3 and points >= $4)',
);
