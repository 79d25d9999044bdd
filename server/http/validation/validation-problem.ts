import type { RequestValidationError } from '@ts-rest/express';
import type { AppRoute } from '@ts-rest/core';
import { parseValidationIssueWithValues } from '@mandate/contract';
import { z, type ZodCustomIssue, type ZodIssue } from 'zod';
import { formatJsonPointerFragment } from './json-complexity-and-duplicate-keys.ts';
import { createInvalidRequestProblem, type Problem, type ProblemEntry } from '../problem-details/problem.ts';
import { translatable, TranslatableText, type ProblemDetail } from '../problem-details/translatable-text.ts';

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
  if (fieldNames(responseSchema).includes(key)) return { code: 'read_only_field', detail: 'Only the service can set this field.' };
  return { code: 'unknown_field', detail: 'The field does not exist.' };
}

const fieldNames = (schema: unknown): string[] =>
  schema instanceof z.ZodObject ? Object.keys(z.record(z.unknown()).parse(schema.shape)) : [];

function describeIssue(location: ProblemEntry['in'], issue: ZodIssue): Pick<ProblemEntry, 'code' | 'detail' | 'allowed'> {
  switch (issue.code) {
    case 'invalid_type':
      if (issue.received === 'undefined') return { code: 'required', detail: 'This field is required.' };
      if (issue.received === 'null') return { code: 'not_nullable', detail: translatable`Must be ${{ type: issue.expected }}, not null.` };
      if (location === 'query' && issue.received === 'array')
        return { code: 'duplicate_parameter', detail: 'Send this parameter only once.' };
      return { code: 'invalid_type', detail: translatable`Must be ${{ type: issue.expected }}.` };
    case 'too_small':
      return { code: 'out_of_range', detail: describeMinimum(issue.type, Number(issue.minimum)) };
    case 'too_big':
      return { code: 'out_of_range', detail: describeMaximum(issue.type, Number(issue.maximum)) };
    case 'invalid_enum_value':
      return {
        code: 'invalid_value',
        detail: translatable`Must be one of: ${{ options: issue.options.join(', ') }}.`,
        allowed: issue.options.map(String),
      };
    case 'custom':
      return { code: 'invalid_value', detail: describeCustomIssue(issue) };
    default:
      return { code: 'invalid_value', detail: sentence(issue.message) };
  }
}

function describeMinimum(kind: string, minimum: number): TranslatableText {
  if (kind === 'string') return translatable`Must have at least ${{ minimum }} characters.`;
  if (kind === 'array') return translatable`Must have at least ${{ minimum }} entries.`;
  return translatable`Must be at least ${{ minimum }}.`;
}

function describeMaximum(kind: string, maximum: number): TranslatableText {
  if (kind === 'string') return translatable`Must have at most ${{ maximum }} characters.`;
  if (kind === 'array') return translatable`Must have at most ${{ maximum }} entries.`;
  return translatable`Must be at most ${{ maximum }}.`;
}

function describeCustomIssue(issue: ZodCustomIssue & { readonly message: string }): ProblemDetail {
  const { text = issue.message, values } = parseValidationIssueWithValues(issue) ?? {};
  return new TranslatableText(sentence(text), values);
}

const sentence = (message: string): string => `${message.charAt(0).toUpperCase()}${message.slice(1)}.`;
