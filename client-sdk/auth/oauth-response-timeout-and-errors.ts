import * as oauth from 'oauth4webapi';
import { AuthorizationError } from '../core/authorization-errors.ts';
import { DecodeError, MandateError } from '../core/errors.ts';
import { startRequestTimeout } from '../core/request-timeout.ts';

const requestTimeoutMs = 15_000;

export type JsonBody = Readonly<Record<string, unknown>>;

/** Reads the JSON body of a response. Throws `AuthorizationError` for an OAuth error response (RFC 6749 section 5.2). */
export async function parseOAuthResponseOrThrow(response: Response): Promise<JsonBody> {
  const text = await response.text();
  const body = response.ok && text === '' ? {} : parseJson(text);
  if (response.ok && body) return body;
  if (typeof body?.['error'] !== 'string') throw new DecodeError(response, text);
  const { error, error_description: description = error } = body;
  throw new AuthorizationError(error, String(description));
}

const isBody = (value: unknown): value is JsonBody => typeof value === 'object' && value !== null;

function parseJson(text: string): JsonBody | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isBody(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Applies a timeout to `exchange`, which sends requests to the authorization server. Converts every failure to a `MandateError`. */
export async function runWithOAuthTimeoutAndErrorConversion<T>(
  issuer: string,
  aborted: AbortSignal | undefined,
  exchange: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const timeout = startRequestTimeout(issuer, requestTimeoutMs, aborted);
  try {
    return await exchange(timeout.signal);
  } catch (cause) {
    throw (timeout.signal.aborted ? undefined : createOAuthError(issuer, cause)) ?? timeout.failure(cause);
  } finally {
    timeout.stop();
  }
}

/** Converts an error from the OAuth library to an error class of this package. Returns `undefined` for a connection failure. */
function createOAuthError(issuer: string, cause: unknown): MandateError | undefined {
  if (cause instanceof MandateError) return cause;
  if (cause instanceof oauth.AuthorizationResponseError)
    return new AuthorizationError(cause.error, cause.error_description ?? cause.error, cause);
  if (cause instanceof oauth.OperationProcessingError)
    return new AuthorizationError('invalid_response', `Invalid response from ${issuer}: ${cause.message}`, cause);
  return undefined;
}
