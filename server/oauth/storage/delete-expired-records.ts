import { prepareExpiredRowDeletion } from '../../database/queries/expired-rows.ts';

// A consumed token is stored until it expires, and a consumed code until its grant expires (postgres-adapter.ts), so that reuse is detected.
export const deleteExpiredRecords = prepareExpiredRowDeletion({
  table: 'oauth_records',
  key: 'model, id',
  isExpired: 'expires_at < $1',
  orderBy: 'expires_at',
});
