import type { Request, RequestHandler, Response } from 'express';
import type { Provider } from 'oidc-provider';
import { tokenAndSessionLifetimesInSeconds } from '../protocol/token-and-session-lifetimes.ts';
import { getOauthRequestContext } from '../protocol/oauth-request-context.ts';
import type { AuthenticationContext } from '../protocol/acr-and-amr.ts';
import type { EntityManager } from '../../database/entity-manager/entity-manager-type.ts';
import { queueLogoutTokensOfSession } from '../back-channel-logout/delete-sessions-and-queue-logout-tokens.ts';
import { findActiveAccountById } from '../accounts/accounts-and-passwords.ts';

type Session = InstanceType<Provider['Session']>;

/** Returns this browser's provider session, or a new session if the browser has none. */
export const loadOrCreateBrowserSession = (provider: Provider, req: Request, res: Response): Promise<Session> =>
  provider.Session.get(provider.createContext(req, res));

/** Creates the middleware that loads the browser's session, for `getBrowserSessionOfRequest`, and the signed-in account. */
export const createSessionAndAccountLoadingMiddleware =
  (context: SessionContext): RequestHandler =>
  async (req, res, next) => {
    const session = await loadOrCreateBrowserSession(context.provider, req, res);
    getOauthRequestContext(req).session = session;
    await loadSignedInAccountIntoRequestContext(context.em, req, session.accountId);
    next();
  };

/** Loads the account of the browser's session into the request context. */
export async function loadSignedInAccountIntoRequestContext(em: EntityManager, req: object, accountId: string | undefined): Promise<void> {
  if (accountId !== undefined) getOauthRequestContext(req).signedInAccount = await findActiveAccountById(em, accountId);
}

/** Returns a page request's session. The session's `accountId` is undefined if no user is signed in. */
export function getBrowserSessionOfRequest(req: Request): Session {
  const { session } = getOauthRequestContext(req);
  if (!session) throw new Error('the session of this request has not been loaded');
  return session;
}

type SessionContext = { readonly provider: Provider; readonly em: EntityManager };

/**
 * Starts a signed-in browser session outside of an authorization request. The session gets a new identifier, which prevents session
 * fixation. If the same user signs in again, the user's sessions at applications are transferred to the new session, and end when the new
 * session ends. `loginTs` is the time of the sign-in, in seconds since 1970 (default: now). Tokens issued during this session contain `amr`
 * and `acr`, and `loginTs` as `auth_time`.
 */
export async function startBrowserSession(
  { provider, em }: SessionContext,
  req: Request,
  res: Response,
  accountId: string,
  { amr, acr, loginTs }: AuthenticationContext & { readonly loginTs?: number | undefined },
): Promise<Session> {
  const old = await loadOrCreateBrowserSession(provider, req, res);
  const session = new provider.Session();
  if (old.accountId === accountId) session.authorizations = old.authorizations;
  else await queueLogoutTokensOfSession(em, old);
  if (old.accountId !== undefined) await old.destroy();
  session.loginAccount({ accountId, amr: [...amr], acr, ...(loginTs !== undefined && { loginTs }) });
  await session.save(tokenAndSessionLifetimesInSeconds.session);
  getOauthRequestContext(req).session = session;
  setSessionCookie(provider, req, res, session.jti);
  return session;
}

/** Signs the browser out. Grants are not affected. Applications that the user signed in to in this browser are notified. */
export async function endBrowserSessionAndNotifyApplications({ provider, em }: SessionContext, req: Request, res: Response): Promise<void> {
  const session = await loadOrCreateBrowserSession(provider, req, res);
  if (session.accountId !== undefined) {
    await queueLogoutTokensOfSession(em, session);
    await session.destroy();
  }
  getOauthRequestContext(req).session = new provider.Session();
  setSessionCookie(provider, req, res, null);
}

function setSessionCookie(provider: Provider, req: Request, res: Response, value: string | null): void {
  const { cookies } = provider.createContext(req, res);
  cookies.set(provider.cookieName('session'), value, {
    httpOnly: true,
    sameSite: 'lax',
    secure: provider.issuer.startsWith('https:'),
    signed: true,
    overwrite: true,
    // To delete the cookie (`value` is null), the cookies library replaces this time with a time in the past.
    expires: new Date(Date.now() + tokenAndSessionLifetimesInSeconds.session * 1000),
  });
}
