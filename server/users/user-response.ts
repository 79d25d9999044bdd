import type { User as UserBody } from '@mandate/contract';
import { timestampToRfc3339 } from '../database/time/timestamp-to-rfc3339.ts';
import type { User } from './user.entity.ts';

export const userColumnsSql = `id, name, email, email_verification = 'verified' as email_verified, status, role, version, created_at, updated_at`;

/** Returns a user row's API representation. */
export const userFromRow = (row: UserBody): UserBody => ({
  ...row,
  created_at: timestampToRfc3339(row.created_at),
  updated_at: timestampToRfc3339(row.updated_at),
});

/** Returns a user entity's API representation. */
export const userFromEntity = ({ id, name, email, emailVerification, status, role, version, createdAt, updatedAt }: User): UserBody => ({
  id,
  name,
  email,
  email_verified: emailVerification === 'verified',
  status,
  role,
  version,
  created_at: createdAt.toISOString(),
  updated_at: updatedAt.toISOString(),
});
