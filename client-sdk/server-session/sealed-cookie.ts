import type { CookieSealer, UnsealedCookie } from './cookie-sealer.ts';

/** An encrypted cookie of the application. */
export type SealedCookie = {
  read(request: Request): Promise<UnsealedCookie | undefined>;
  /** Returns a `Set-Cookie` header value that stores `cookie`; `undefined` removes the cookie. */
  format(cookie: UnsealedCookie | undefined): Promise<string>;
};

/** Maximum size of a cookie, including its name and attributes. Browsers ignore larger cookies. */
const maxCookieLength = 4096;

/** Creates a cookie for the application's origin. `__Host-` prevents other hosts from replacing the cookie (RFC 6265bis). */
export function createSealedCookie(sealer: CookieSealer, baseName: string, origin: string): SealedCookie {
  const isSecure = origin.startsWith('https:');
  const name = `${isSecure ? '__Host-' : ''}${baseName}`;
  const attributes = `Path=/; HttpOnly; SameSite=Lax${isSecure ? '; Secure' : ''}`;
  return {
    async read(request) {
      const sealed = readCookie(request, name);
      return sealed === undefined ? undefined : sealer.unseal(name, sealed);
    },
    async format(cookie) {
      if (!cookie) return `${name}=; Max-Age=0; ${attributes}`;
      const maxAge = Math.max(0, Math.floor((cookie.expiresAt - Date.now()) / 1000));
      const header = `${name}=${await sealer.seal(name, cookie)}; Max-Age=${maxAge}; ${attributes}`;
      if (header.length > maxCookieLength) {
        throw new Error(
          `The cookie ${name} has ${header.length} characters, but browsers store at most ${maxCookieLength}; request fewer scopes`,
        );
      }
      return header;
    },
  };
}

function readCookie(request: Request, name: string): string | undefined {
  const pairs = request.headers.get('cookie')?.split(';') ?? [];
  const pair = pairs.map((text) => text.trim()).find((text) => text.startsWith(`${name}=`));
  return pair?.slice(name.length + 1);
}

/** Returns the response with additional cookies. The response must not be cached, because a cache would send the cookies to other users. */
export function addCookiesToResponse(response: Response, cookies: readonly string[]): Response {
  const { status, statusText, body } = response;
  const headers = new Headers(response.headers);
  for (const cookie of cookies) headers.append('set-cookie', cookie);
  headers.set('cache-control', 'no-store');
  return new Response(body, { status, statusText, headers });
}
