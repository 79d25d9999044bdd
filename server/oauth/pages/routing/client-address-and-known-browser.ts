import type { Request } from 'express';
import { findActiveAccountAndPasswordHash, type ActiveAccountAndPasswordHash } from '../../accounts/accounts-and-passwords.ts';
import type { AttemptSource } from '../../brute-force/attempt-limiter.ts';
import type { PageContext } from './page-context.ts';

/**
 * Looks up the account for a sign-in attempt, and returns the client address and, for a known browser, the browser ID. Runs the same
 * queries whether the account exists or not.
 */
export async function findClientAddressAndBrowserByEmailOrId(
  context: PageContext,
  req: Request,
  emailOrId: string | number,
): Promise<AttemptSource> {
  return getClientAddressAndKnownBrowser(context, req, await findActiveAccountAndPasswordHash(context.em, emailOrId));
}

/** Returns the client address of a sign-in attempt and, for a browser that the account has used before, the browser ID. */
export function getClientAddressAndKnownBrowser(
  { knownBrowsers }: PageContext,
  req: Request,
  account: ActiveAccountAndPasswordHash | undefined,
): AttemptSource {
  return { address: req.ip, knownBrowser: account && knownBrowsers.findBrowserId(req, account.id, account.changedAt ?? new Date(0)) };
}
