import type { CookieSealer, UnsealedCookie } from './cookie-sealer.ts';

/** Reads and writes an encrypted cookie of the application. */
export type SealedCookieCodec = {
  /** Returns the decrypted cookie of a request; `undefined` if the request has no valid cookie. */
  read(request: Request): Promise<UnsealedCookie | undefined>;
  /** Returns a `Set-Cookie` header value that stores `cookie`; `undefined` removes the cookie. */
  format(cookie: UnsealedCookie | undefined): Promise<string>;
};

/** Maximum size of a cookie, including its name and attributes. Browsers ignore larger cookies. */
const maxCookieLength = 4096;

/**
 * Creates a codec for a cookie of the application's origin. The prefix `__Host-` prevents other hosts from replacing the cookie (RFC
 * 6265bis).
 */
export function createSealedCookieCodec(sealer: CookieSealer, baseName: string, origin: string): SealedCookieCodec {
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
