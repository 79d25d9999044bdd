import {
  AbortError,
  ApiError,
  AuthorizationError,
  ConnectionError,
  DecodeError,
  MandateError,
  SignInRequiredError,
  TimeoutError,
} from '@mandate/client-sdk';
import { CommandFailure, type FieldFailure } from './command-error.ts';
import { exitCodeOfStatus, exitCodes } from './exit-codes.ts';
import type { Io } from '../environment.ts';
import { plainText, printableJson } from '../terminal/safe-terminal-text.ts';
import { withProfile } from '../settings/settings.ts';

/** A failure as it is told: to people in lines, to programs as JSON. */
export type Failure = {
  readonly code: string;
  readonly status?: number;
  readonly message: string;
  readonly hint?: string | undefined;
  readonly requestId?: string | undefined;
  readonly exitCode: number;
  readonly fields: readonly FieldFailure[];
};

/** Tells on stderr what went wrong and gives the exit code. */
export function reportFailure(io: Io, error: unknown, asJson: boolean, debug: boolean): number {
  const told = failureOf(error);
  const failure = told.hint === undefined ? told : { ...told, hint: withProfile(io, told.hint) };
  if (asJson) {
    const { fields, ...rest } = failure;
    io.stderr.write(`${printableJson({ error: { ...rest, ...(fields.length > 0 && { fields }) } })}\n`);
  } else {
    io.stderr.write(
      lines(failure)
        .map((line) => `${line}\n`)
        .join(''),
    );
  }
  if (debug && error instanceof Error && error.stack) io.stderr.write(`${error.stack}\n`);
  return failure.exitCode;
}

function lines({ code, status, message, hint, requestId, fields }: Failure): string[] {
  const origin = [code, ...(status === undefined ? [] : [`HTTP ${status}`]), ...(requestId ? [`request ${requestId}`] : [])];
  return [
    `error: ${plainText(message)}`,
    ...fields.map((field) => `  ${plainText(field.flag)}: ${plainText(field.message)}`),
    ...(hint ? [`hint: ${plainText(hint)}`] : []),
    ...(status === undefined ? [] : [`(${plainText(origin.join(', '))})`]),
  ];
}

/** The service answers only under the name that its tokens carry. */
const otherName =
  'The service goes by another host name: use the address that it printed when it started, localhost instead of 127.0.0.1 for instance';

function failureOf(error: unknown): Failure {
  if (error instanceof CommandFailure) {
    const { code, message, hint, exitCode, fields, cause } = error;
    if (!(cause instanceof MandateError) || cause instanceof AuthorizationError) return { code, message, hint, exitCode, fields };
    const told = failureOf(cause);
    // The detail of a request with a single mistake is that mistake, which stands in the next line.
    const repeats = cause instanceof ApiError && fields.length === 1 && fields.every((field) => told.message.includes(field.message));
    return { ...told, ...(repeats && { message: cause.title }), hint: hint ?? told.hint, fields };
  }
  if (error instanceof ApiError) {
    const { code, status, message, requestId } = error;
    return { code, status, message, hint: hintFor(error), requestId, exitCode: exitCodeOfStatus(status), fields: [] };
  }
  if (error instanceof DecodeError) {
    const { code, status, message, headers } = error;
    const requestId = headers.get('x-request-id') ?? undefined;
    return {
      code,
      status,
      message,
      hint: status === 421 ? otherName : 'Is this address a Mandate service, and does a proxy answer in its place?',
      requestId,
      exitCode: exitCodeOfStatus(status),
      fields: [],
    };
  }
  return withoutAnswer(error);
}

function withoutAnswer(error: unknown): Failure {
  if (error instanceof ConnectionError || error instanceof TimeoutError) {
    const hint = 'Is the service running there? Another address: --api-url <url> or MANDATE_API_URL';
    return { code: error.code, message: error.message, hint, exitCode: exitCodes.noAnswer, fields: [] };
  }
  const { exitCode, code, hint } = endOf(error);
  return { code, message: error instanceof Error ? error.message : String(error), hint, exitCode, fields: [] };
}

function endOf(error: unknown): Pick<Failure, 'exitCode' | 'code' | 'hint'> {
  if (error instanceof SignInRequiredError)
    return { exitCode: exitCodes.signInNeeded, code: error.code, hint: 'Sign in with: mandate login' };
  if (error instanceof AuthorizationError)
    return { exitCode: exitCodes.signInNeeded, code: error.error, hint: 'Try again with: mandate login' };
  if (error instanceof AbortError) return { exitCode: exitCodes.interrupted, code: error.code };
  return { exitCode: exitCodes.unforeseen, code: 'unforeseen' };
}

function hintFor({ status, code, retryAfterSeconds }: ApiError): string | undefined {
  if (code === 'insufficient_user_authentication') return 'Sign in again with: mandate login --force';
  if (status === 401) return 'Sign in with: mandate login';
  if (code === 'insufficient_scope') return 'Ask for more with: mandate login --scopes +<scope>';
  return status === 429 && retryAfterSeconds !== undefined ? `Try again in ${retryAfterSeconds} s` : undefined;
}
