import type { User as UserBody, UserCreate } from '@mandate/contract';
import type { EntityManager } from '../database/entity-manager/entity-manager-type.ts';
import { recordEvent } from '../events/record-event.ts';
import { rethrowUniqueViolationAsEmailTaken } from './rethrow-email-taken.ts';
import { userFromEntity } from './user-from-entity.ts';
import { User } from './user.entity.ts';

/** Creates an account without credentials. The account owner cannot sign in until a password or passkey is set. */
export async function createUser(em: EntityManager, { name, email, locale = null }: UserCreate): Promise<UserBody> {
  const created = em.create(User, { name, email, locale });
  await em.persist(created).flush().catch(rethrowUniqueViolationAsEmailTaken);
  const user = userFromEntity(created);
  await recordEvent(em, 'user.created', user, user.id);
  return user;
}
