import type { Principal } from './principal-and-token-types.ts';
import { createProblem } from '../problem-details/problem.ts';
import { translatable } from '../problem-details/translatable-text.ts';

/** Maximum age of a sign-in, in seconds, for operations that require a recent sign-in. */
export const maxRecentSignInAgeSeconds = 15 * 60;

/**
 * Rejects a principal whose user did not sign in recently, so that a forgotten session or a stolen refresh token is not sufficient for the
 * operation. API keys and client credentials are always rejected, because they are not based on a sign-in.
 * @throws Problem `insufficient_user_authentication` with the challenge specified in RFC 9470 section 3
 */
export function requireRecentSignIn({ authTime, authScheme = 'Bearer' }: Principal, now: Date): void {
  if (authTime !== undefined && now.getTime() / 1000 - authTime <= maxRecentSignInAgeSeconds) return;
  const minutes = maxRecentSignInAgeSeconds / 60;
  const detail =
    authTime === undefined
      ? translatable`This operation requires the access token of a user who signed in within the last ${{ minutes }} minutes. API keys, and applications that act on their own behalf, cannot use it.`
      : translatable`This operation requires a sign-in within the last ${{ minutes }} minutes. Sign in again (in the CLI, with \`mandate login --force\`), then repeat the request.`;
  const challenge = `${authScheme} realm="api", error="insufficient_user_authentication", error_description="A more recent sign-in is required", max_age="${maxRecentSignInAgeSeconds}"`;
  throw createProblem('insufficient_user_authentication', { detail, headers: { 'WWW-Authenticate': challenge } });
}

/**
 * Rejects a principal whose user did not sign in with a second factor.
 * @param acrValue the authentication context class that the client must request
 * @throws Problem `insufficient_user_authentication` with the challenge specified in RFC 9470 section 3
 */
export function requireSecondFactor({ hasSecondFactor, authScheme = 'Bearer' }: Principal, acrValue: string): void {
  if (hasSecondFactor === true) return;
  const detail =
    'This operation requires a sign-in with a second factor: a passkey, or a code from an authenticator app. Sign in again (in the CLI, with `mandate login --force`), then repeat the request.';
  const challenge = `${authScheme} realm="api", error="insufficient_user_authentication", error_description="A sign-in with a second factor is required", acr_values="${acrValue}", max_age="${maxRecentSignInAgeSeconds}"`;
  throw createProblem('insufficient_user_authentication', { detail, headers: { 'WWW-Authenticate': challenge } });
}
