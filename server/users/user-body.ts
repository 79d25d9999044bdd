import type { User as UserBody } from '@mandate/contract';
import { instant } from '../database/time/timestamp-format.ts';
import type { User } from './user.entity.ts';

export const userColumns = `id, name, email, email_verification = 'verified' as email_verified, status, role, version, created_at, updated_at`;

/** Returns the API representation of a row. */
export const toUser = (row: UserBody): UserBody => ({ ...row, created_at: instant(row.created_at), updated_at: instant(row.updated_at) });

/** Returns the API representation of an entity. */
export const userBody = ({ id, name, email, emailVerification, status, role, version, createdAt, updatedAt }: User): UserBody => ({
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
