import type { Request, RequestHandler, Response } from 'express';
import type { Provider } from 'oidc-provider';
import { defineObjectMetadata } from '../../memory/object-metadata.ts';
import { oauthLifetimes } from '../protocol/lifetimes.ts';
import type { AuthenticationContext } from '../protocol/acr-and-amr.ts';

type Session = InstanceType<Provider['Session']>;

/** Returns this browser's provider session, or a new session if the browser has none. */
export const loadCurrentSession = (provider: Provider, req: Request, res: Response): Promise<Session> =>
  provider.Session.get(provider.createContext(req, res));

const sessions = defineObjectMetadata<Session>('browser session');

/** Loads the browser's session, for `getAttachedSession`. */
export const attachSessionToRequest =
  (context: { readonly provider: Provider }): RequestHandler =>
  async (req, res, next) => {
    sessions.set(req, await loadCurrentSession(context.provider, req, res));
    next();
  };

/** Returns a page request's session. The session's `accountId` is undefined if no user is signed in. */
export function getAttachedSession(req: Request): Session {
  const session = sessions.get(req);
  if (!session) throw new Error('the session of this request has not been loaded');
  return session;
}

/** Signs the browser in outside an authorization request. The session gets a new identifier, which prevents session fixation. */
export async function startSession(
  provider: Provider,
  req: Request,
  res: Response,
  accountId: string,
  { amr, acr }: AuthenticationContext,
): Promise<Session> {
  const old = await loadCurrentSession(provider, req, res);
  if (old.accountId !== undefined) await old.destroy();
  const session = new provider.Session();
  session.loginAccount({ accountId, amr: [...amr], acr });
  await session.save(oauthLifetimes.session);
  sessions.set(req, session);
  setSessionCookie(provider, req, res, session.jti);
  return session;
}

/** Signs the browser out. Grants are not affected. */
export async function endSession(provider: Provider, req: Request, res: Response): Promise<void> {
  const session = await loadCurrentSession(provider, req, res);
  if (session.accountId !== undefined) await session.destroy();
  sessions.set(req, new provider.Session());
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
    // without a value, the library sets a time in the past
    expires: new Date(Date.now() + oauthLifetimes.session * 1000),
  });
}
