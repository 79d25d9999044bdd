import { ApiError } from '@mandate/client-sdk';
import { browserSignIn } from '@mandate/client-sdk/authorization/browser';
import { consoleEnvironment } from '../console-environment.ts';

/** The API accepts sign-ins from the last 15 minutes, so this maximum age leaves the user at least 5 minutes to complete the action. */
const maxAgeSeconds = 10 * 60;

/**
 * Navigates to the sign-in page, which redirects to this page after the sign-in. The user must sign in again if the last sign-in is too
 * old, and must consent to the additional scopes.
 */
export function signInAgain(additionalScopes: readonly string[] = []): Promise<never> {
  const { issuer, path, clientId, scopes } = consoleEnvironment;
  return browserSignIn({
    issuer,
    clientId,
    redirectUri: new URL(path, issuer).href,
    scopes: ['openid', 'offline_access', ...scopes, ...additionalScopes],
    maxAge: maxAgeSeconds,
  }).redirect();
}

/** Returns whether the API rejected an action because the last sign-in is too old (RFC 9470). */
export const isSignInTooOldError = (error: unknown): boolean =>
  error instanceof ApiError && error.code === 'insufficient_user_authentication';
