import { expect, test } from 'vitest';
import { z } from 'zod';
import {
  isDatabaseUnreachableError,
  isDiskFullError,
  isTemporaryDatabaseError,
  isDatabaseContentionError,
} from '../../server/database/errors/database-error-predicates.ts';
import { createProblem } from '../../server/http/problem-details/problem.ts';
import { PermanentTaskError, toPermanentTaskErrorOrUndefined } from '../../server/tasks/permanent-task-error.ts';

const withCode = (code: unknown): Error => Object.assign(new Error('failed'), { code });
const wrapped = (cause: unknown): Error => new Error('a query failed', { cause });

/** Returns the classes of an error, and the classes of a second error whose cause is the first error. */
const classesOf = (error: unknown): string[][] =>
  [error, wrapped(error)].map((each) => [
    ...(isDatabaseUnreachableError(each) ? ['unreachable'] : []),
    ...(isDatabaseContentionError(each) ? ['transient'] : []),
    ...(isDiskFullError(each) ? ['disk full'] : []),
    ...(isTemporaryDatabaseError(each) ? ['retryable'] : []),
  ]);

const unreachableSqlStates = '57P01 57P02 57P03 53300 53200 25006 08006 08P01'.split(' ');
const unreachableSystemErrors = 'ECONNREFUSED ECONNRESET EPIPE ETIMEDOUT EHOSTUNREACH ENETUNREACH ENOTFOUND EAI_AGAIN'.split(' ');

test.each([...unreachableSqlStates, ...unreachableSystemErrors])('with %s, the database is unreachable', (code) => {
  expect(classesOf(withCode(code))).toEqual([
    ['unreachable', 'retryable'],
    ['unreachable', 'retryable'],
  ]);
});

test.each([
  'Connection terminated unexpectedly',
  'timeout exceeded when trying to connect',
  'Query read timeout',
  'Client has encountered a connection error and is not queryable',
])('with the message "%s", the database is unreachable', (message) => {
  expect(classesOf(new Error(message))[0]).toEqual(['unreachable', 'retryable']);
  expect(classesOf(new Error(`x ${message}`))[0]).toEqual([]);
});

test.each(['57014', '55P03', '40P01', '40001'])('with %s, a retry may succeed', (code) => {
  expect(classesOf(withCode(code))).toEqual([
    ['transient', 'retryable'],
    ['transient', 'retryable'],
  ]);
});

test('with 53100, the disk is full', () => {
  expect(classesOf(withCode('53100'))).toEqual([
    ['disk full', 'retryable'],
    ['disk full', 'retryable'],
  ]);
});

test.each([withCode('23505'), withCode('10800'), withCode(8), new Error('failed'), 'Connection terminated', null, undefined])(
  'another error is in no class: %s',
  (error) => {
    expect(classesOf(error)).toEqual([[], []]);
  },
);

const failureOf = (error: unknown, attempts = 1) => {
  const failure = toPermanentTaskErrorOrUndefined(error, attempts);
  return failure && [failure.code, failure.message];
};

test.each([
  ['21000', 'A row matches more than one existing record.'],
  ['22003', 'A value is outside the range that can be stored.'],
  ['23514', 'A row conflicts with existing data or with a rule for that data.'],
  ['54000', 'A row is too large to be stored.'],
  ['P0001', 'A row violates a rule for the data.'],
])('a task that fails with SQLSTATE %s fails permanently', (code, detail) => {
  expect(failureOf(withCode(code))).toEqual(['invalid_data', detail]);
});

test.each(['23503', '23505', '23P01'])('a task that fails with SQLSTATE %s fails permanently at the third attempt', (code) => {
  const detail = 'A row conflicts with existing data or with a rule for that data.';
  expect([1, 2, 3].map((attempts) => failureOf(withCode(code), attempts))).toEqual([undefined, undefined, ['invalid_data', detail]]);
});

test.each([
  withCode('40001'),
  withCode('53100'),
  withCode('08006'),
  withCode('42601'),
  withCode('22'),
  withCode('22-03'),
  withCode('22-22003'),
  withCode('22003x'),
  new Error('failed'),
  new TypeError('failed'),
  undefined,
])('a task is retried after any other error: %s', (error) => {
  expect(failureOf(error, 9)).toBeUndefined();
});

test('a task fails permanently with a problem of the client, not with one of the server', () => {
  expect(failureOf(createProblem('forbidden', { detail: 'Not allowed.' }))).toEqual(['forbidden', 'Not allowed.']);
  expect(failureOf(createProblem('unavailable', { detail: 'Later.' }))).toBeUndefined();
  expect(failureOf(createProblem('internal_error', { detail: 'Failed.' }))).toBeUndefined();
  expect(failureOf(createProblem('forbidden', { detail: 'Not allowed.', cause: withCode('40001') }))).toBeUndefined();
});

test('a task fails permanently with invalid options or with a value that cannot be processed', () => {
  const { error } = z.object({ a: z.object({ b: z.number() }), c: z.string() }).safeParse({ a: { b: 'x' } });
  expect(failureOf(error)).toEqual([
    'invalid_params',
    'The options of the task are not valid: a.b: Expected number, received string; c: Required.',
  ]);
  expect(failureOf(new RangeError('Invalid time value'))).toEqual(['invalid_data', 'A value cannot be processed.']);
});

test('a permanent error is reported unchanged', () => {
  const failure = new PermanentTaskError('missing_column', 'No row has a value.', new Error('cause'));
  expect(toPermanentTaskErrorOrUndefined(failure, 1)).toBe(failure);
  expect(failure.cause).toEqual(new Error('cause'));
});
