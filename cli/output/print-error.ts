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
import { CommandError, type FieldError } from '../errors/command-error.ts';
import { exitCodeFromHttpStatus, exitCodes } from '../errors/exit-codes.ts';
import type { CliEnvironment } from '../environment/cli-environment-type.ts';
import { sanitizeForTerminal, serializeJsonForTerminal } from '../terminal/sanitize-and-measure-terminal-text.ts';
import { addProfileToLoginHint } from '../settings/resolve-settings.ts';

/** An error that is printed as lines of text or, with --json, as JSON. */
export type PrintableError = {
  readonly code: string;
  readonly status?: number;
  readonly message: string;
  readonly hint?: string | undefined;
  readonly requestId?: string | undefined;
  readonly exitCode: number;
  readonly fields: readonly FieldError[];
};

/** Prints an error to standard error and returns the exit code. */
export function printErrorAndReturnExitCode(io: CliEnvironment, error: unknown, asJson: boolean, debug: boolean): number {
  const described = describeError(error);
  const failure = described.hint === undefined ? described : { ...described, hint: addProfileToLoginHint(io, described.hint) };
  if (asJson) {
    const { fields, ...rest } = failure;
    io.stderr.write(`${serializeJsonForTerminal({ error: { ...rest, ...(fields.length > 0 && { fields }) } })}\n`);
  } else {
    io.stderr.write(
      formatLines(failure)
        .map((line) => `${line}\n`)
        .join(''),
    );
  }
  if (debug && error instanceof Error && error.stack) io.stderr.write(`${error.stack}\n`);
  return failure.exitCode;
}

function formatLines({ code, status, message, hint, requestId, fields }: PrintableError): string[] {
  const origin = [code, ...(status === undefined ? [] : [`HTTP ${status}`]), ...(requestId ? [`request ${requestId}`] : [])];
  return [
    `error: ${sanitizeForTerminal(message)}`,
    ...fields.map((field) => `  ${sanitizeForTerminal(field.flag)}: ${sanitizeForTerminal(field.message)}`),
    ...(hint ? [`hint: ${sanitizeForTerminal(hint)}`] : []),
    ...(status === undefined ? [] : [`(${sanitizeForTerminal(origin.join(', '))})`]),
  ];
}

/** Hint for HTTP 421: the service accepts only requests for its issuer's host name. */
const wrongHostHint =
  'The service uses a different host name: use the URL that it printed at startup, for example with localhost instead of 127.0.0.1';

function describeError(error: unknown): PrintableError {
  if (error instanceof CommandError) {
    const { code, message, hint, exitCode, fields, cause } = error;
    if (!(cause instanceof MandateError) || cause instanceof AuthorizationError) return { code, message, hint, exitCode, fields };
    const apiError = describeError(cause);
    // If only one field is invalid, the error detail equals the message that is printed for the field.
    const repeats = cause instanceof ApiError && fields.length === 1 && fields.every((field) => apiError.message.includes(field.message));
    return { ...apiError, ...(repeats && { message: cause.title }), hint: hint ?? apiError.hint, fields };
  }
  if (error instanceof ApiError) {
    const { code, status, message, requestId } = error;
    return { code, status, message, hint: hintForApiError(error), requestId, exitCode: exitCodeFromHttpStatus(status), fields: [] };
  }
  if (error instanceof DecodeError) {
    const { code, status, message, headers } = error;
    const requestId = headers.get('x-request-id') ?? undefined;
    return {
      code,
      status,
      message,
      hint:
        status === 421
          ? wrongHostHint
          : 'Check that this is the URL of a Mandate service, and that the response does not come from a proxy',
      requestId,
      exitCode: exitCodeFromHttpStatus(status),
      fields: [],
    };
  }
  return describeErrorWithoutResponse(error);
}

function describeErrorWithoutResponse(error: unknown): PrintableError {
  if (error instanceof ConnectionError || error instanceof TimeoutError) {
    const hint = 'Check that the service is running at this URL, or set another URL with --api-url <url> or MANDATE_API_URL';
    return { code: error.code, message: error.message, hint, exitCode: exitCodes.noResponse, fields: [] };
  }
  const { exitCode, code, hint } = classifyError(error);
  return { code, message: error instanceof Error ? error.message : String(error), hint, exitCode, fields: [] };
}

function classifyError(error: unknown): Pick<PrintableError, 'exitCode' | 'code' | 'hint'> {
  if (error instanceof SignInRequiredError)
    return { exitCode: exitCodes.signInRequired, code: error.code, hint: 'Sign in with: mandate login' };
  if (error instanceof AuthorizationError)
    return { exitCode: exitCodes.signInRequired, code: error.error, hint: 'Retry with: mandate login' };
  if (error instanceof AbortError) return { exitCode: exitCodes.interrupted, code: error.code };
  return { exitCode: exitCodes.unexpectedError, code: 'unexpected_error' };
}

function hintForApiError({ status, code, retryAfterSeconds }: ApiError): string | undefined {
  if (code === 'insufficient_user_authentication') return 'Sign in again with: mandate login --force';
  if (status === 401) return 'Sign in with: mandate login';
  if (code === 'insufficient_scope') return 'Request the scope with: mandate login --scopes +<scope>';
  return status === 429 && retryAfterSeconds !== undefined ? `Retry in ${retryAfterSeconds} s` : undefined;
}
