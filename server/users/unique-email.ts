import { constraintOf } from '../database/errors/sql-errors.ts';
import { problem } from '../http/problem-details/problem.ts';

/** Two users cannot have one address; the database knows, whoever was first. */
export function refuseTakenEmail(error: unknown): never {
  if (constraintOf(error) !== 'users_email_unique') throw error;
  const detail = 'A user with this e-mail address exists.';
  throw problem('email_taken', { detail, errors: [{ in: 'body', pointer: '#/email', code: 'not_unique', detail }], cause: error });
}
