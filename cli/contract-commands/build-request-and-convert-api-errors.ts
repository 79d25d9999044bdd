import { ApiError, ConnectionError, filledPath, TimeoutError, type QueryValue } from '@mandate/client-sdk';
import { handwrittenCommandNamesByOperation } from './handwritten-command-names.ts';
import { CommandError, type FieldError } from '../errors/command-error.ts';
import type { CommandSpec } from '../schema/command-spec-type.ts';
import { commandSpecs } from './commands.gen.ts';
import { exitCodes } from '../errors/exit-codes.ts';
import { flagsFromCommandSpec, isMoneyFlag, snakeToKebabCase } from './flags-from-command-spec.ts';
import { describeMinorUnit } from './convert-money-flags.ts';
import { flagErrorFromSchemaViolation, parseFlagValues, type RawFlagValues } from './parse-flag-values.ts';
import { getBodySchemaWithRequiredOrderFields } from './get-body-schema-with-required-order-fields.ts';
import { requiredFieldMessage, findSchemaViolations } from '../schema/find-schema-violations.ts';

/** The command-line input for one operation of the contract. */
export type CommandInput = {
  readonly spec: CommandSpec;
  readonly path: readonly string[];
  readonly typed: RawFlagValues;
  /** Body from `--input`; flags override its fields. */
  readonly base?: Record<string, unknown>;
};
export type ContractRequest = {
  readonly method: string;
  readonly path: string;
  readonly query: Record<string, QueryValue>;
  readonly body?: unknown;
};

/** Returns the generated command specification for an operation. */
export function getCommandSpecForOperation(operationId: string): CommandSpec {
  const spec = commandSpecs.find((candidate) => candidate.operationId === operationId);
  if (!spec) throw new Error(`the contract has no operation ${operationId}`);
  return spec;
}

/** Builds the request from the command-line input. Throws one error that lists every invalid value. */
export function validateInputAndBuildRequest({ spec, path, typed, base = {} }: CommandInput): ContractRequest {
  const { query, body, fields: invalidFields } = buildAndValidateQueryAndBody(spec, typed, base);
  const fields: FieldError[] = [
    ...spec.pathParameters.flatMap(({ name, schema }, index) => {
      const text = path[index] ?? '';
      const value = schema.type.includes('integer') && /^\d+$/.test(text) ? Number(text) : text;
      return findSchemaViolations(schema, value).map(({ message }) => ({ flag: `<${snakeToKebabCase(name)}>`, path: name, message }));
    }),
    ...invalidFields,
  ];
  if (fields.length > 0) {
    const hint = `Show the usage with: mandate ${handwrittenCommandNamesByOperation[spec.operationId] ?? `${spec.group} ${spec.name}`} --help`;
    throw new CommandError(exitCodes.usage, 'usage', 'Invalid command line; nothing was sent', { fields, hint });
  }
  return {
    method: spec.method,
    path: filledPath(spec.path, path),
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the schema permits only strings, numbers and lists of these
    query: query as Record<string, QueryValue>,
    ...(body !== undefined && { body }),
  };
}

type CheckedValues = {
  readonly query: Record<string, unknown>;
  readonly body: Record<string, unknown> | undefined;
  readonly fields: readonly FieldError[];
};

/** Builds the query and the body from the flags, and validates both. Flags override the fields of `base`. */
export function buildAndValidateQueryAndBody(spec: CommandSpec, typed: RawFlagValues, base: Record<string, unknown>): CheckedValues {
  const now = new Date();
  const flags = flagsFromCommandSpec(spec);
  const query = parseFlagValues(typed, 'query', {}, now);
  const body = spec.body ? parseFlagValues(typed, 'body', base, now) : undefined;
  const bodySchema = body && getBodySchemaWithRequiredOrderFields(spec, body);
  const currency = body?.['currency'];
  const errors = [
    ...findSchemaViolations(spec.query, query).map((violation) => flagErrorFromSchemaViolation(flags, 'query', violation)),
    ...(bodySchema
      ? findSchemaViolations(bodySchema, body).map((violation) => flagErrorFromSchemaViolation(flags, 'body', violation))
      : []),
  ];
  const withUnit = ({ flag, message, ...rest }: FieldError): FieldError => {
    const money = flags.find((candidate) => candidate.name === flag && isMoneyFlag(candidate));
    const fullMessage =
      money && message !== requiredFieldMessage
        ? `${message}, ${describeMinorUnit(typeof currency === 'string' ? currency : undefined)}`
        : message;
    return { ...rest, flag, message: fullMessage };
  };
  return { query, body, fields: errors.map(withUnit) };
}

/** Converts an API error to a command error that lists the invalid flags and suggests a next step. Returns other errors unchanged. */
export function commandErrorFromCallError(error: unknown, spec: CommandSpec, idempotencyKey: string | undefined): unknown {
  if ((error instanceof ConnectionError || error instanceof TimeoutError) && idempotencyKey !== undefined) {
    const hint = `The request may have been executed. Retry it safely with: --idempotency-key ${idempotencyKey}`;
    return new CommandError(exitCodes.noResponse, error.code, error.message, { cause: error, hint });
  }
  if (!(error instanceof ApiError)) return error;
  const options = { cause: error, fields: toFieldErrors(error, spec) };
  const hint = hintFor(error, spec);
  return new CommandError(exitCodes.unexpectedError, error.code, error.message, hint === undefined ? options : { ...options, hint });
}

function hintFor({ status, code }: ApiError, { group, name, scopes }: CommandSpec): string | undefined {
  if (code === 'insufficient_scope' && scopes[0]) return `Request the scope with: mandate login --scopes +${scopes[0]}`;
  if (code === 'precondition_required') return "Specify the version to change with --if-match <etag>, or any version with --if-match '*'";
  const hasList = commandSpecs.some((other) => other.group === group && other.name === 'list');
  return status === 404 && name !== 'list' && hasList ? `Find the ID with: mandate ${group} list` : undefined;
}

function toFieldErrors({ errors }: ApiError, spec: CommandSpec): FieldError[] {
  const flags = flagsFromCommandSpec(spec);
  return errors.map(({ in: location, pointer = '', parameter = '', detail: message }) => {
    if (location === 'path') return { flag: `<${snakeToKebabCase(parameter)}>`, path: parameter, message };
    if (location === 'query') return flagErrorFromSchemaViolation(flags, 'query', { path: [parameter], message });
    if (location === 'header') return { flag: `--${parameter.toLowerCase()}`, path: parameter, message };
    return flagErrorFromSchemaViolation(flags, 'body', { path: splitPointer(pointer), message });
  });
}

/** Splits a JSON Pointer in URI fragment form, such as `#/items/0/quantity`. */
const splitPointer = (pointer: string): (string | number)[] =>
  pointer
    .split('/')
    .slice(1)
    .map((part) => (/^\d+$/.test(part) ? Number(part) : part.replaceAll('~1', '/').replaceAll('~0', '~')));
