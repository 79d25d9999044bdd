import type { Request } from 'express';
import { findSignInCandidate, type SignInCandidate } from '../../accounts/account-store.ts';
import type { AttemptSource } from '../../brute-force/attempt-limits.ts';
import type { PageContext } from '../routing/page-context.ts';

/** Returns where an attempt at an account comes from. The same query runs whether the account exists or not. */
export async function attemptSource(context: PageContext, req: Request, emailOrId: string | number): Promise<AttemptSource> {
  return sourceOfAttempt(context, req, await findSignInCandidate(context.em, emailOrId));
}

export function sourceOfAttempt({ knownBrowsers }: PageContext, req: Request, account: SignInCandidate | undefined): AttemptSource {
  const since = new Date(account?.changed_at ?? 0);
  return { address: req.ip, knownBrowser: account && knownBrowsers.find(req, account.id, since) };
}
