import { errorClassNameSymbol, MandateError } from './errors.ts';

/** The user has to sign in: no user is signed in, or the grant has expired or been revoked. */
export class SignInRequiredError extends MandateError {
  static override readonly [errorClassNameSymbol] = 'SignInRequiredError';
  declare readonly name: 'SignInRequiredError';
  readonly code = 'sign_in_required';
}

/** The authorization server or the user denied the request; `error` is the OAuth error code, such as `access_denied` (RFC 6749). */
export class AuthorizationError extends MandateError {
  static override readonly [errorClassNameSymbol] = 'AuthorizationError';
  declare readonly name: 'AuthorizationError';
  readonly code = 'authorization_failed';
  readonly error: string;

  constructor(error: string, message: string, cause?: unknown) {
    super(message, { cause });
    this.error = error;
  }
}
