import { sha256 } from '../../crypto/sha256.ts';
import { basePathFromIssuer } from './endpoint-paths-and-audiences.ts';

export type CookieNames = {
  /** Identifier of the browser session. */
  readonly session: string;
  /**
   * Identifier of a pending interaction. oidc-provider uses one name for all interactions; `createOidcCookieRenamingMiddleware` appends the
   * identifier.
   */
  readonly interaction: string;
  /** Random value that CSRF tokens are bound to before the sign-in. */
  readonly form: string;
  /** Identifies a browser in which a user has previously signed in (`KnownBrowserCookie`). */
  readonly browser: string;
  /** Language chosen in this browser. */
  readonly language: string;
  /** The browser's time zone, which the page script stores. */
  readonly timeZone: string;
};

/**
 * Returns an installation's cookie names. Over https, names have the `__Host-` prefix (RFC 6265bis section 4.1.3.2), so that browsers
 * accept the cookies only from this host. Cookies with this prefix must have the path `/`. Installations with different base paths on one
 * host would therefore share these cookies, so the names also contain a hash of the issuer's path.
 */
export function cookieNamesForIssuer(issuer: string): CookieNames {
  const path = basePathFromIssuer(issuer);
  const prefix = `${new URL(issuer).protocol === 'https:' ? '__Host-' : ''}mandate${path === '' ? '' : `-${sha256(path, 'hex').slice(0, 8)}`}`;
  return {
    session: `${prefix}_session`,
    interaction: `${prefix}_interaction`,
    form: `${prefix}_form`,
    browser: `${prefix}_browser`,
    language: `${prefix}_language`,
    timeZone: `${prefix}_time_zone`,
  };
}
