import { createServerSignIn, type ServerSignIn, type ServerSignInOptions } from '@mandate/client-sdk/server';

export const origin = 'https://app.example';
export const secret = 'an old secret of at least thirty-two characters';

/** Creates the sign-in functions of an application that uses a stub server. */
export const createSignIn = (server: { readonly url: string }, options: Partial<ServerSignInOptions> = {}): ServerSignIn =>
  createServerSignIn({
    issuer: server.url,
    clientId: 'bff',
    clientSecret: 'client secret',
    redirectUri: `${origin}/auth/callback`,
    scopes: ['offline_access', 'orders.read'],
    cookieSecrets: [secret],
    ...options,
  });

/** The cookies of one browser. */
export class CookieJar {
  readonly #cookies = new Map<string, string>();

  store(response: Response): Response {
    for (const line of response.headers.getSetCookie()) {
      const [name = '', value = ''] = (line.split(';')[0] ?? '').split('=');
      if (line.includes('Max-Age=0;')) this.#cookies.delete(name);
      else this.#cookies.set(name, value);
    }
    return response;
  }

  request(path: string, init: RequestInit = {}): Request {
    const cookie = this.header();
    return new Request(origin + path, { ...init, headers: { cookie, ...Object.fromEntries(new Headers(init.headers)) } });
  }

  header = (): string => Array.from(this.#cookies, (pair) => pair.join('=')).join('; ');
  names = (): string[] => [...this.#cookies.keys()];
}

/** Returns the callback path. The stub server uses the PKCE challenge as the code. */
export function callbackPath(start: Response, server: { readonly url: string }): string {
  const { searchParams } = new URL(start.headers.get('location') ?? '');
  const parameters = { code: searchParams.get('code_challenge') ?? '', state: searchParams.get('state') ?? '', iss: server.url };
  return `/auth/callback?${new URLSearchParams(parameters).toString()}`;
}

/** Signs in, and returns the browser's cookies. */
export async function signInBrowser(signIn: ServerSignIn, server: { readonly url: string }): Promise<CookieJar> {
  const browser = new CookieJar();
  const start = browser.store(await signIn.startSignIn(browser.request('/auth/sign-in')));
  browser.store(await signIn.completeSignIn(browser.request(callbackPath(start, server))));
  return browser;
}
