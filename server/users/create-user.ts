import type { User, UserCreate } from '@mandate/contract';
import type { EntityManager } from '../database/entity-manager/entity-manager.ts';
import { prepareStatement } from '../database/queries/prepared-statement.ts';
import { recordEvent } from '../events/record-event.ts';
import { rethrowAsEmailTaken } from './unique-email.ts';
import { userFromRow, userColumnsSql } from './user-response.ts';

const insertUser = prepareStatement<User>('insert_user', `insert into users (name, email) values ($1, $2) returning ${userColumnsSql}`);

/** Creates an account without credentials; its owner cannot sign in until a password or passkey is set. */
export async function createUser(em: EntityManager, { name, email }: UserCreate): Promise<User> {
  const [row] = await insertUser(em, [name, email]).catch(rethrowAsEmailTaken);
  if (!row) throw new Error('inserting a user returned no row');
  const user = userFromRow(row);
  await recordEvent(em, 'user.created', user, user.id);
  return user;
}
