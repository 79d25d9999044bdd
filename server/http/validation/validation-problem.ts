import type { RequestValidationError } from '@ts-rest/express';
import type { AppRoute } from '@ts-rest/core';
import { z, type ZodIssue } from 'zod';
import { jsonPointer } from './json-measure.ts';
import { invalidRequest, type Problem, type ProblemEntry } from '../problem-details/problem.ts';

const entriesMax = 50;

/** Everything that the contract finds wrong with a request, at once. */
export function validationProblem(error: RequestValidationError, route: AppRoute): Problem {
  const entries = [
    ...(error.pathParams?.issues.flatMap((issue) => entriesOf('path', issue, route)) ?? []),
    ...(error.query?.issues.flatMap((issue) => entriesOf('query', issue, route)) ?? []),
    ...(error.headers?.issues.flatMap((issue) => entriesOf('header', issue, route)) ?? []),
    ...(error.body?.issues.flatMap((issue) => entriesOf('body', issue, route)) ?? []),
  ];
  return invalidRequest(...withoutRepetitions(entries).slice(0, entriesMax));
}

/** Two rules of a schema can find the same fault, such as the two that an e-mail address has to meet. */
const withoutRepetitions = (entries: readonly ProblemEntry[]): ProblemEntry[] => [
  ...new Map(entries.map((entry) => [JSON.stringify(entry), entry])).values(),
];

function entriesOf(place: ProblemEntry['in'], issue: ZodIssue, route: AppRoute): ProblemEntry[] {
  if (issue.code !== 'unrecognized_keys') return [{ in: place, ...positionOf(place, issue.path), ...verdict(place, issue) }];
  return issue.keys.map((key) => ({ in: place, ...positionOf(place, [...issue.path, key]), ...unknownKey(place, key, route) }));
}

/** A JSON Pointer in the body; elsewhere the name. */
function positionOf(place: ProblemEntry['in'], path: readonly (string | number)[]): Pick<ProblemEntry, 'pointer' | 'parameter'> {
  if (place !== 'body') return { parameter: String(path[0] ?? '') };
  return { pointer: jsonPointer(path) };
}

function unknownKey(place: ProblemEntry['in'], key: string, route: AppRoute): Pick<ProblemEntry, 'code' | 'detail' | 'allowed'> {
  if (place === 'query') {
    return { code: 'unknown_parameter', detail: `There is no parameter of this name.`, allowed: fieldsOf(route.query) };
  }
  const answer = Object.entries(route.responses).find(([status]) => status.startsWith('2'))?.[1];
  if (fieldsOf(answer).includes(key)) return { code: 'read_only_field', detail: 'This field is set by the service.' };
  return { code: 'unknown_field', detail: 'There is no field of this name.' };
}

const fieldsOf = (schema: unknown): string[] =>
  schema instanceof z.ZodObject ? Object.keys(z.record(z.unknown()).parse(schema.shape)) : [];

function verdict(place: ProblemEntry['in'], issue: ZodIssue): Pick<ProblemEntry, 'code' | 'detail' | 'allowed'> {
  switch (issue.code) {
    case 'invalid_type':
      if (issue.received === 'undefined') return { code: 'required', detail: 'This is required.' };
      if (issue.received === 'null') return { code: 'not_nullable', detail: `Must be ${aOrAn(issue.expected)}, not null.` };
      if (place === 'query' && issue.received === 'array') return { code: 'duplicate_parameter', detail: 'Give this parameter once.' };
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
