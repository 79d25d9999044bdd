import { prepareStatement } from '../../database/queries/prepared-statement.ts';
import type { AccountRow } from '../storage/prefetched-record-and-client-types.ts';

// Written in SQL because it runs for every authorization request, and SQL is measurably faster (benchmark case `sign-in`).
export const selectActiveAccountById = prepareStatement<AccountRow>(
  'find_active_account',
  `select id, name, email, email_verification = 'verified' as email_verified, locale, updated_at from users where id = $1 and status = 'active'`,
);
