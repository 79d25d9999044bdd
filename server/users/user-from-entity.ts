import type { User as UserBody } from '@mandate/contract';
import type { User } from './user.entity.ts';

/** Returns a user entity's API representation. */
export const userFromEntity = ({
  id,
  name,
  email,
  emailVerification,
  status,
  role,
  locale,
  version,
  createdAt,
  updatedAt,
}: User): UserBody => ({
  id,
  name,
  email,
  email_verified: emailVerification === 'verified',
  status,
  role,
  locale: locale ?? null,
  version,
  created_at: createdAt.toISOString(),
  updated_at: updatedAt.toISOString(),
});
