import type { RequestValidationError } from '@ts-rest/express';
import type { AppRoute } from '@ts-rest/core';
import { z, type ZodIssue } from 'zod';
import { formatJsonPointerFragment } from './json-complexity-and-duplicate-keys.ts';
import { createInvalidRequestProblem, type Problem, type ProblemEntry } from '../problem-details/problem.ts';

const maxEntries = 50;

/** Combines the validation errors of a request into one problem response (RFC 9457). */
export function createValidationProblem(error: RequestValidationError, route: AppRoute): Problem {
  const entries = [
    ...(error.pathParams?.issues.flatMap((issue) => toEntries('path', issue, route)) ?? []),
    ...(error.query?.issues.flatMap((issue) => toEntries('query', issue, route)) ?? []),
    ...(error.headers?.issues.flatMap((issue) => toEntries('header', issue, route)) ?? []),
    ...(error.body?.issues.flatMap((issue) => toEntries('body', issue, route)) ?? []),
  ];
  return createInvalidRequestProblem(...removeDuplicates(entries).slice(0, maxEntries));
}

/** Removes duplicate errors, because several rules in a schema can report the same error. */
const removeDuplicates = (entries: readonly ProblemEntry[]): ProblemEntry[] => [
  ...new Map(entries.map((entry) => [JSON.stringify(entry), entry])).values(),
];

function toEntries(location: ProblemEntry['in'], issue: ZodIssue, route: AppRoute): ProblemEntry[] {
  if (issue.code !== 'unrecognized_keys') return [{ in: location, ...locationOf(location, issue.path), ...describeIssue(location, issue) }];
  return issue.keys.map((key) => ({
    in: location,
    ...locationOf(location, [...issue.path, key]),
    ...describeUnknownKey(location, key, route),
  }));
}

/** Returns a JSON Pointer for an error in the body, and the parameter name for any other error. */
function locationOf(location: ProblemEntry['in'], path: readonly (string | number)[]): Pick<ProblemEntry, 'pointer' | 'parameter'> {
  if (location !== 'body') return { parameter: String(path[0] ?? '') };
  return { pointer: formatJsonPointerFragment(path) };
}

function describeUnknownKey(location: ProblemEntry['in'], key: string, route: AppRoute): Pick<ProblemEntry, 'code' | 'detail' | 'allowed'> {
  if (location === 'query') {
    return { code: 'unknown_parameter', detail: 'The parameter does not exist.', allowed: fieldNames(route.query) };
  }
  const responseSchema = Object.entries(route.responses).find(([status]) => status.startsWith('2'))?.[1];
  if (fieldNames(responseSchema).includes(key)) return { code: 'read_only_field', detail: 'This field is set by the service.' };
  return { code: 'unknown_field', detail: 'The field does not exist.' };
}

const fieldNames = (schema: unknown): string[] =>
  schema instanceof z.ZodObject ? Object.keys(z.record(z.unknown()).parse(schema.shape)) : [];

function describeIssue(location: ProblemEntry['in'], issue: ZodIssue): Pick<ProblemEntry, 'code' | 'detail' | 'allowed'> {
  switch (issue.code) {
    case 'invalid_type':
      if (issue.received === 'undefined') return { code: 'required', detail: 'This is required.' };
      if (issue.received === 'null') return { code: 'not_nullable', detail: `Must be ${aOrAn(issue.expected)}, not null.` };
      if (location === 'query' && issue.received === 'array') return { code: 'duplicate_parameter', detail: 'Give this parameter once.' };
      return { code: 'invalid_type', detail: `Must be ${aOrAn(issue.expected)}.` };
    case 'too_small':
      return { code: 'out_of_range', detail: sizeDetail(issue.type, 'at least', issue.minimum) };
    case 'too_big':
      return { code: 'out_of_range', detail: sizeDetail(issue.type, 'at most', issue.maximum) };
    case 'invalid_enum_value':
      return { code: 'invalid_value', detail: `Must be one of: ${issue.options.join(', ')}.`, allowed: issue.options.map(String) };
    default:
      return { code: 'invalid_value', detail: sentence(issue.message) };
  }
}

function sizeDetail(kind: string, bound: 'at least' | 'at most', size: number | bigint): string {
  if (kind === 'string') return `Must have ${bound} ${size} ${Number(size) === 1 ? 'character' : 'characters'}.`;
  if (kind === 'array') return `Must have ${bound} ${size} ${Number(size) === 1 ? 'entry' : 'entries'}.`;
  return `Must be ${bound} ${size}.`;
}

const aOrAn = (noun: string): string => (/^[aeiou]/.test(noun) ? `an ${noun}` : `a ${noun}`);
const sentence = (message: string): string => `${message.charAt(0).toUpperCase()}${message.slice(1)}.`;
