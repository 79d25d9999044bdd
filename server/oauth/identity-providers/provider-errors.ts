import * as oauth from 'oauth4webapi';
import { z } from 'zod';
import { DocumentTooLargeError } from '../../outgoing-http/fetch-third-party-document.ts';
import { AddressNotAllowedError } from '../../outgoing-http/ssrf-protected-connection.ts';

/** Thrown if a provider cannot be reached, responds too slowly or sends a response that is too large. */
export class IdentityProviderUnavailableError extends Error {
  override readonly name = 'IdentityProviderUnavailableError';
}

/** Thrown if a response from a provider fails a check. The message contains no secrets. */
export class InvalidProviderResponseError extends Error {
  override readonly name = 'InvalidProviderResponseError';
}

/** Thrown if the user or the provider has declined the sign-in. */
export class ProviderSignInDeclinedError extends Error {
  override readonly name = 'ProviderSignInDeclinedError';
}

/** Lowest HTTP status code that indicates that the provider is currently unavailable. */
const serverErrorStatus = 500;

/** Returns whether a provider has rejected a request with an OAuth error, such as `invalid_grant`. */
export const isErrorResponseOfProvider = (error: unknown): error is oauth.ResponseBodyError =>
  error instanceof oauth.ResponseBodyError && error.status < serverErrorStatus;

const errorCodeLengthMax = 100;
export const truncateErrorCode = (code: string): string => code.slice(0, errorCodeLengthMax);

/**
 * Runs `work`, and converts library and connection errors to this module's errors. The causes of these errors are dropped, because they can
 * contain tokens.
 */
export async function runAndConvertProviderErrors<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof InvalidProviderResponseError) throw error;
    if (error instanceof oauth.AuthorizationResponseError) throw new ProviderSignInDeclinedError(truncateErrorCode(error.error));
    if (error instanceof oauth.WWWAuthenticateChallengeError)
      throw new InvalidProviderResponseError(`the provider responded with ${describeChallenge(error)}`);
    if (isErrorResponseOfProvider(error))
      throw new InvalidProviderResponseError(`the provider responded with ${truncateErrorCode(error.error)}`);
    if (error instanceof oauth.OperationProcessingError || error instanceof oauth.UnsupportedOperationError)
      throw isServerError(error) ? new IdentityProviderUnavailableError(error.message) : new InvalidProviderResponseError(error.message);
    if (error instanceof DocumentTooLargeError || error instanceof AddressNotAllowedError)
      throw new IdentityProviderUnavailableError(error.message);
    if (error instanceof z.ZodError) throw new InvalidProviderResponseError('the ID token lacks a required claim');
    throw new IdentityProviderUnavailableError(error instanceof Error ? error.message : 'the provider cannot be reached');
  }
}

/** Returns the error in a `WWW-Authenticate` header, such as `invalid_client` if the client ID or the secret is wrong. */
function describeChallenge({ cause, status }: oauth.WWWAuthenticateChallengeError): string {
  const code = cause.map(({ parameters }) => parameters.error).find((error) => error !== undefined);
  return code === undefined ? `status ${status}` : truncateErrorCode(code);
}

const isServerError = ({ cause }: Error): boolean => cause instanceof Response && cause.status >= serverErrorStatus;
