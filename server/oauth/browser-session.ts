import type { Request, RequestHandler, Response } from 'express';
import type { Provider } from 'oidc-provider';
import { noteOf } from '../note.ts';
import { lifetimes } from './engine.ts';
import type { Proof } from './proofs-of-identity.ts';

type Session = InstanceType<Provider['Session']>;

/** The session of this browser, as the engine keeps it; a new one when there is none. */
export const currentSession = (provider: Provider, req: Request, res: Response): Promise<Session> =>
  provider.Session.get(provider.createContext(req, res));

const sessions = noteOf<Session>('browser session');

/** Loads the session of the browser for `sessionOf`. */
export const loadSession =
  (context: { readonly provider: Provider }): RequestHandler =>
  async (req, res, next) => {
    sessions.set(req, await currentSession(context.provider, req, res));
    next();
  };

/** Returns the session of a request to a page; one without an account when nobody is signed in. */
export function sessionOf(req: Request): Session {
  const session = sessions.get(req);
  if (!session) throw new Error('the session of this request has not been loaded');
  return session;
}

/** Signs the browser in without an application that asked for it. The session gets a new identifier: whoever knew the old one is out. */
export async function startSession(
  provider: Provider,
  req: Request,
  res: Response,
  accountId: string,
  { amr, acr }: Proof,
): Promise<Session> {
  const old = await currentSession(provider, req, res);
  if (old.accountId !== undefined) await old.destroy();
  const session = new provider.Session();
  session.loginAccount({ accountId, amr: [...amr], acr });
  await session.save(lifetimes.session);
  sessions.set(req, session);
  setCookie(provider, req, res, session.jti);
  return session;
}

/** Signs the browser out. What applications were allowed is not touched. */
export async function endSession(provider: Provider, req: Request, res: Response): Promise<void> {
  const session = await currentSession(provider, req, res);
  if (session.accountId !== undefined) await session.destroy();
  sessions.set(req, new provider.Session());
  setCookie(provider, req, res, null);
}

function setCookie(provider: Provider, req: Request, res: Response, value: string | null): void {
  const { cookies } = provider.createContext(req, res);
  cookies.set(provider.cookieName('session'), value, {
    httpOnly: true,
    sameSite: 'lax',
    secure: provider.issuer.startsWith('https:'),
    signed: true,
    overwrite: true,
    // without a value, the library sets a time in the past
    expires: new Date(Date.now() + lifetimes.session * 1000),
  });
}
