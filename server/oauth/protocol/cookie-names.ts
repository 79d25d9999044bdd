import { hash } from 'node:crypto';
import { pathOf } from './endpoints.ts';

export type CookieNames = {
  /** Identifier of the browser session. */
  readonly session: string;
  /** Pending interaction, by the name that the engine uses for all of them; `translateCookies` adds the identifier of each. */
  readonly interaction: string;
  /** Random value that form tokens are bound to before sign-in. */
  readonly form: string;
  /** Recognizes a browser that has signed in before (`KnownBrowsers`). */
  readonly browser: string;
};

/**
 * Over https every name has the `__Host-` prefix (RFC 6265bis section 4.1.3.2), so that browsers accept the cookie only from this host. Such a
 * cookie has the path `/`, which installations below different paths of one host share: the path of the issuer is part of the name.
 */
export function cookieNames(issuer: string): CookieNames {
  const path = pathOf(issuer);
  const prefix = `${new URL(issuer).protocol === 'https:' ? '__Host-' : ''}mandate${path === '' ? '' : `-${hash('sha256', path).slice(0, 8)}`}`;
  return { session: `${prefix}_session`, interaction: `${prefix}_interaction`, form: `${prefix}_form`, browser: `${prefix}_browser` };
}
