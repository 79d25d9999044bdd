import type { Request } from 'express';
import { findActiveAccountWithPasswordHash, type SignInCandidate } from '../../accounts/accounts-and-passwords.ts';
import type { AttemptSource } from '../../brute-force/attempt-limiter.ts';
import type { PageContext } from './page-context.ts';

/**
 * Looks up the account for a sign-in attempt and returns the source of the attempt. Runs the same queries whether the account exists or
 * not.
 */
export async function findSourceOfSignInAttempt(context: PageContext, req: Request, emailOrId: string | number): Promise<AttemptSource> {
  return signInAttemptSourceFromRequest(context, req, await findActiveAccountWithPasswordHash(context.em, emailOrId));
}

/** Returns an attempt's source: the client address and, for a known browser, the browser ID. */
export function signInAttemptSourceFromRequest(
  { knownBrowsers }: PageContext,
  req: Request,
  account: SignInCandidate | undefined,
): AttemptSource {
  return { address: req.ip, knownBrowser: account && knownBrowsers.findBrowserId(req, account.id, account.changedAt ?? new Date(0)) };
}
