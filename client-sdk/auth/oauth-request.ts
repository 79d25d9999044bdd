import * as oauth from 'oauth4webapi';
import { AbortError, AuthorizationError, DecodeError, MandateError, TimeoutError, createConnectionError } from '../core/errors.ts';

const requestTimeoutMs = 15_000;

export type JsonBody = Readonly<Record<string, unknown>>;

/** Reads the JSON body of a response. Throws `AuthorizationError` for an OAuth error response (RFC 6749 section 5.2). */
export async function readOAuthResponse(response: Response): Promise<JsonBody> {
  const text = await response.text();
  const body = response.ok && text === '' ? {} : parseJson(text);
  if (response.ok && body) return body;
  if (typeof body?.['error'] !== 'string') throw new DecodeError(response.status, response.headers, text);
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

/**
 * Runs a request to the authorization server with a timeout, and converts every failure to a `MandateError`.
 */
export async function runOAuthRequest<T>(
  issuer: string,
  aborted: AbortSignal | undefined,
  exchange: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const timeout = AbortSignal.timeout(requestTimeoutMs);
  try {
    return await exchange(aborted ? AbortSignal.any([aborted, timeout]) : timeout);
  } catch (cause) {
    if (aborted?.aborted) throw new AbortError('Call aborted', { cause });
    if (timeout.aborted) throw new TimeoutError(`No response from ${issuer} within ${requestTimeoutMs / 1000} s`, { cause });
    throw toMandateError(issuer, cause);
  }
}

function toMandateError(issuer: string, cause: unknown): Error {
  if (cause instanceof MandateError) return cause;
  if (cause instanceof oauth.AuthorizationResponseError)
    return new AuthorizationError(cause.error, cause.error_description ?? cause.error, cause);
  if (cause instanceof oauth.OperationProcessingError)
    return new AuthorizationError('invalid_response', `Invalid response from ${issuer}: ${cause.message}`, cause);
  return createConnectionError(issuer, cause);
}
