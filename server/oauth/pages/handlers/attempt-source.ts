import type { Request } from 'express';
import { findSignInCandidate, type SignInCandidate } from '../../accounts/account-store.ts';
import type { AttemptSource } from '../../brute-force/attempt-limits.ts';
import type { PageContext } from '../routing/page-context.ts';

/** Looks up the account and returns the source of an attempt. Runs the same query whether the account exists or not. */
export async function attemptSource(context: PageContext, req: Request, emailOrId: string | number): Promise<AttemptSource> {
  return sourceOfAttempt(context, req, await findSignInCandidate(context.em, emailOrId));
}

/** Returns the source of an attempt: the client address and, for a known browser, its ID. */
export function sourceOfAttempt({ knownBrowsers }: PageContext, req: Request, account: SignInCandidate | undefined): AttemptSource {
  const since = new Date(account?.changed_at ?? 0);
  return { address: req.ip, knownBrowser: account && knownBrowsers.find(req, account.id, since) };
}
