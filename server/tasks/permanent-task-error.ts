import { problemDeclarations } from '@mandate/contract';
import { ZodError } from 'zod';
import { isTemporaryDatabaseError } from '../database/errors/database-error-predicates.ts';
import { getSqlState } from '../database/errors/sql-error-fields.ts';
import { Problem } from '../http/problem-details/problem.ts';

/** A permanent task error, with a message for the task owner. Another attempt would fail in the same way. */
export class PermanentTaskError extends Error {
  readonly code: string;

  constructor(code: string, detail: string, cause?: unknown) {
    super(detail, { cause });
    this.code = code;
  }
}

/**
 * SQLSTATE classes of errors that depend only on the data (PostgreSQL, appendix A): cardinality violations, data exceptions, constraint
 * violations, exceeded program limits, and exceptions raised by functions.
 */
const permanentClasses: Readonly<Record<string, string>> = {
  '21': 'A row matches more than one existing record.',
  '22': 'A value is outside the range that can be stored.',
  '23': 'A row conflicts with existing data or with a rule for that data.',
  '54': 'A row is too large to be stored.',
  P0: 'A row violates a rule for the data.',
};

/**
 * Foreign key, unique and exclusion violations. A concurrent transaction can also cause such a violation. After such a violation, the next
 * attempt reads the data that the concurrent transaction has committed (PostgreSQL, section 13.5).
 */
const possibleRaces = new Set(['23503', '23505', '23P01']);
/** Number of attempts after which a constraint violation is attributed to the data rather than to a concurrent transaction. */
const raceAttemptsMax = 2;

/**
 * Classifies the error from a failed task attempt. Returns the failure to report if the error is permanent. Returns `undefined` if a later
 * attempt may succeed (for example, after a connection, disk, lock or serialization failure) or the cause is unknown.
 * @param attempts attempts so far, including the failed one
 */
export function toPermanentTaskErrorOrUndefined(error: unknown, attempts: number): PermanentTaskError | undefined {
  if (error instanceof PermanentTaskError) return error;
  if (isTemporaryDatabaseError(error)) return undefined;
  if (error instanceof Problem)
    return problemDeclarations[error.code].status < 500 ? new PermanentTaskError(error.code, error.message, error) : undefined;
  if (error instanceof ZodError) return new PermanentTaskError('invalid_params', paramsDetail(error), error);
  const state = getSqlState(error) ?? '';
  if (possibleRaces.has(state) && attempts <= raceAttemptsMax) return undefined;
  const detail = /^[0-9A-Z]{5}$/.test(state) ? permanentClasses[state.slice(0, 2)] : undefined;
  if (detail !== undefined) return new PermanentTaskError('invalid_data', detail, error);
  // A `RangeError`, such as for an invalid date, is caused by the data, which does not change between attempts.
  return error instanceof RangeError ? new PermanentTaskError('invalid_data', 'A value cannot be processed.', error) : undefined;
}

const paramsDetail = ({ issues }: ZodError): string =>
  `The options of the task are not valid: ${issues.map(({ path, message }) => `${path.join('.')}: ${message}`).join('; ')}.`;
