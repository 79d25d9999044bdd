import { ApiError, ConnectionError, filledPath, TimeoutError, type QueryValue } from '@mandate/client-sdk';
import { byHand } from './handwritten-commands.ts';
import { CommandFailure, type FieldFailure } from '../errors/command-error.ts';
import type { CommandSpec } from './command-specification.ts';
import { commandSpecs } from './commands.gen.ts';
import { exitCodes } from '../errors/exit-codes.ts';
import { flagsOf, isMoney, kebabCase } from './flags.ts';
import { inMinorUnits } from './money-flags.ts';
import { fieldFailure, valuesOf, type Typed } from './parse-flags.ts';
import { requiredMessage, violations } from './schema-violations.ts';

/** What was typed for one operation of the contract. */
export type Words = {
  readonly spec: CommandSpec;
  readonly path: readonly string[];
  readonly typed: Typed;
  /** The body that the flags are laid over. */
  readonly base?: Record<string, unknown>;
};
export type ContractRequest = {
  readonly method: string;
  readonly path: string;
  readonly query: Record<string, QueryValue>;
  readonly body?: unknown;
};

/** The command of an operation, as the contract has it. */
export function specOf(operationId: string): CommandSpec {
  const spec = commandSpecs.find((candidate) => candidate.operationId === operationId);
  if (!spec) throw new Error(`the contract has no ${operationId}`);
  return spec;
}

/** The request that the words make; everything wrong with it is told at once. */
export function requestOf({ spec, path, typed, base = {} }: Words): ContractRequest {
  const { query, body, fields: wrong } = checkedValues(spec, typed, base);
  const fields: FieldFailure[] = [
    ...spec.pathParameters.flatMap(({ name, schema }, index) => {
      const text = path[index] ?? '';
      const value = schema.type.includes('integer') && /^\d+$/.test(text) ? Number(text) : text;
      return violations(schema, value).map(({ message }) => ({ flag: `<${kebabCase(name)}>`, path: name, message }));
    }),
    ...wrong,
  ];
  if (fields.length > 0) {
    const hint = `Read how it is used: mandate ${byHand[spec.operationId] ?? `${spec.group} ${spec.name}`} --help`;
    throw new CommandFailure(exitCodes.usage, 'usage', 'Nothing was sent: the command line is not valid', { fields, hint });
  }
  return {
    method: spec.method,
    path: filledPath(spec.path, path),
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- checked by the contract's schema: texts, numbers and lists of them
    query: query as Record<string, QueryValue>,
    ...(body !== undefined && { body }),
  };
}

type CheckedValues = {
  readonly query: Record<string, unknown>;
  readonly body: Record<string, unknown> | undefined;
  readonly fields: readonly FieldFailure[];
};

/** Query and body that the flags make, laid over `base`, and everything that is wrong with them. */
export function checkedValues(spec: CommandSpec, typed: Typed, base: Record<string, unknown>): CheckedValues {
  const now = new Date();
  const flags = flagsOf(spec);
  const query = valuesOf(typed, 'query', {}, now);
  const body = spec.body ? valuesOf(typed, 'body', base, now) : undefined;
  const currency = body?.['currency'];
  const failures = [
    ...violations(spec.query, query).map((violation) => fieldFailure(flags, 'query', violation)),
    ...(spec.body ? violations(spec.body, body).map((violation) => fieldFailure(flags, 'body', violation)) : []),
  ];
  const inUnits = ({ flag, message, ...rest }: FieldFailure): FieldFailure => {
    const money = flags.find((candidate) => candidate.name === flag && isMoney(candidate));
    const told =
      money && message !== requiredMessage ? `${message}, ${inMinorUnits(typeof currency === 'string' ? currency : undefined)}` : message;
    return { ...rest, flag, message: told };
  };
  return { query, body, fields: failures.map(inUnits) };
}

/** A failure with what only the command knows: which flag it was, and what to do next. */
export function explained(error: unknown, spec: CommandSpec, idempotencyKey: string | undefined): unknown {
  if ((error instanceof ConnectionError || error instanceof TimeoutError) && idempotencyKey !== undefined) {
    const hint = `It is not known whether the request was carried out. Repeat it safely with: --idempotency-key ${idempotencyKey}`;
    return new CommandFailure(exitCodes.noAnswer, error.code, error.message, { cause: error, hint });
  }
  if (!(error instanceof ApiError)) return error;
  const more = { cause: error, fields: fieldsOf(error, spec) };
  const hint = hintFor(error, spec);
  return new CommandFailure(exitCodes.unforeseen, error.code, error.message, hint === undefined ? more : { ...more, hint });
}

function hintFor({ status, code }: ApiError, { group, name, scopes }: CommandSpec): string | undefined {
  if (code === 'insufficient_scope' && scopes[0]) return `Ask for it with: mandate login --scopes +${scopes[0]}`;
  if (code === 'precondition_required') return "Say which version you mean: --if-match <etag>; '*' is any";
  const hasList = commandSpecs.some((other) => other.group === group && other.name === 'list');
  return status === 404 && name !== 'list' && hasList
    ? `List ${scopes.length > 0 ? 'yours' : 'them'} with: mandate ${group} list`
    : undefined;
}

function fieldsOf({ errors }: ApiError, spec: CommandSpec): FieldFailure[] {
  const flags = flagsOf(spec);
  return errors.map(({ in: place, pointer = '', parameter = '', detail: message }) => {
    if (place === 'path') return { flag: `<${kebabCase(parameter)}>`, path: parameter, message };
    if (place === 'query') return fieldFailure(flags, 'query', { path: [parameter], message });
    if (place === 'header') return { flag: `--${parameter.toLowerCase()}`, path: parameter, message };
    return fieldFailure(flags, 'body', { path: partsOf(pointer), message });
  });
}

/** A JSON Pointer in a URI fragment: `#/items/0/quantity`. */
const partsOf = (pointer: string): (string | number)[] =>
  pointer
    .split('/')
    .slice(1)
    .map((part) => (/^\d+$/.test(part) ? Number(part) : part.replaceAll('~1', '/').replaceAll('~0', '~')));
