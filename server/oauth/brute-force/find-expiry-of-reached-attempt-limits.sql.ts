import { prepareBatchedLookupStatement } from '../../database/queries/batched-statement.ts';

// Written in SQL because it runs for every token request, and SQL is measurably faster (benchmark cases `refresh`, `client-credentials` and
// `sign-in`).
/** Returns the latest expiry time among the attempt limits that have been reached, in milliseconds since the Unix epoch. */
export const findExpiryOfReachedAttemptLimits = prepareBatchedLookupStatement<{ ends_at: number | null }>(
  'read_attempt_limits_reached',
  ['text', 'int', 'text', 'int'],
  'select max(expire) as ends_at from attempts where (key = $1 and points >= $2) or (key = $3 and points >= $4)',
);
