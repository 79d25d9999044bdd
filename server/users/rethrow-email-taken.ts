import { getViolatedConstraint } from '../database/errors/sql-error-fields.ts';
import { createProblem } from '../http/problem-details/problem.ts';

/** Translates a violation of the unique index on e-mail addresses into the problem `email_taken`; rethrows every other error. */
export function rethrowUniqueViolationAsEmailTaken(error: unknown): never {
  if (getViolatedConstraint(error) !== 'users_email_unique') throw error;
  const detail = 'A user with this e-mail address already exists.';
  throw createProblem('email_taken', { detail, errors: [{ in: 'body', pointer: '#/email', code: 'not_unique', detail }], cause: error });
}
