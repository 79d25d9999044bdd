import type { User, UserCreate } from '@mandate/contract';
import type { Em } from '../database/entity-manager/entity-manager.ts';
import { statement } from '../database/queries/prepared-statement.ts';
import { recordEvent } from '../events/record-event.ts';
import { refuseTakenEmail } from './unique-email.ts';
import { toUser, userColumns } from './user-body.ts';

const insertUser = statement<User>('insert_user', `insert into users (name, email) values ($1, $2) returning ${userColumns}`);

/** Creates an account without credentials; its owner cannot sign in until a password or passkey is set. */
export async function createUser(em: Em, { name, email }: UserCreate): Promise<User> {
  const [row] = await insertUser(em, [name, email]).catch(refuseTakenEmail);
  if (!row) throw new Error('inserting a user returned no row');
  const user = toUser(row);
  await recordEvent(em, 'user.created', user, user.id);
  return user;
}
