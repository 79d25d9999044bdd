import type { RequestHandler, Response } from 'express';
import type { CookieNames } from '../protocol/cookie-names.ts';

/**
 * Maximum number of open interactions per browser; a new interaction replaces the oldest. The number is limited because every request
 * includes the interaction cookies and the size of headers is limited.
 */
const interactionsMax = 8;

/**
 * Translates between the browser's cookies and oidc-provider's cookies. oidc-provider scopes interaction cookies to the paths of the
 * interaction pages, so that sign-ins in several tabs do not collide. However, the `__Host-` prefix requires the path `/`. The browser
 * therefore stores one cookie per interaction, named `<name>_<uid>`. For each request, oidc-provider receives only the cookie whose uid is
 * in the request path, under the name `<name>`.
 *
 * Sets the attributes of every response cookie. Request cookies that the authorization server does not use are not forwarded to
 * oidc-provider.
 */
export function createOidcCookieRenamingMiddleware(names: CookieNames, secure: boolean): RequestHandler {
  const translation = new CookieTranslation(names, secure);
  return (req, res, next) => {
    const { cookie } = req.headers;
    if (cookie !== undefined) req.headers.cookie = translation.forProvider(cookie, req.path);
    const writeHead = res.writeHead.bind(res);
    // This function is a named constant, because a function literal that is assigned to a property stays in memory until the next major GC.
    const translating = (...head: Parameters<typeof writeHead>): Response => {
      const lines = [res.getHeader('set-cookie') ?? []].flat().map(String);
      if (lines.length > 0) res.setHeader('Set-Cookie', translation.forBrowser(lines, cookie ?? ''));
      writeHead(...head);
      return res;
    };
    Reflect.set(res, 'writeHead', translating);
    return next();
  };
}

class CookieTranslation {
  readonly #names: CookieNames;
  readonly #attributes: string;
  readonly #interactionPattern: RegExp;

  constructor(names: CookieNames, secure: boolean) {
    this.#names = names;
    this.#attributes = `Path=/; HttpOnly; SameSite=Lax${secure ? '; Secure' : ''}`;
    this.#interactionPattern = new RegExp(`^${names.interaction}_([\\w-]+?)(\\.sig)?$`);
  }

  /** Returns the `Cookie` header for oidc-provider. */
  forProvider(header: string, path: string): string {
    const { session, form, browser, language, timeZone, interaction } = this.#names;
    const forwarded = new Set([session, `${session}.sig`, form, browser, language, timeZone]);
    const segments = new Set(path.split('/'));
    return cookiePairs(header)
      .flatMap(([name, value]) => {
        if (forwarded.has(name)) return [`${name}=${value}`];
        const [, uid = '', signature = ''] = this.#interactionPattern.exec(name) ?? [];
        return uid !== '' && segments.has(uid) ? [`${interaction}${signature}=${value}`] : [];
      })
      .join('; ');
  }

  /**
   * Returns the `Set-Cookie` headers for a browser that sent the `Cookie` header in `header`. If a name occurs more than once, the last
   * cookie wins.
   */
  forBrowser(lines: readonly string[], header: string): string[] {
    const { interaction } = this.#names;
    const translated = new Map<string, SetCookie>();
    for (const line of lines) {
      const { name, value, path, expires } = parseSetCookie(line);
      const isInteractionCookie = name === interaction || name === `${interaction}.sig`;
      const uid = path.slice(path.lastIndexOf('/') + 1);
      if (isInteractionCookie && uid === '') continue; // oidc-provider deletes a signature cookie that no browser stores
      translated.set(isInteractionCookie ? `${interaction}_${uid}${name.slice(interaction.length)}` : name, { value, expires });
    }
    for (const name of this.#surplusNames(header, translated)) translated.set(name, { value: '', expires: new Date(0).toUTCString() });
    return [...translated].map(
      ([name, { value, expires }]) => `${name}=${value}; ${this.#attributes}${expires === undefined ? '' : `; Expires=${expires}`}`,
    );
  }

  /** Returns the names of the interaction cookies that exceed the limit: the oldest cookies, which browsers send first. */
  #surplusNames(header: string, changed: ReadonlyMap<string, SetCookie>): string[] {
    const uids = (names: readonly string[]) => new Set(names.flatMap((name) => this.#interactionPattern.exec(name)?.[1] ?? []));
    const added = uids([...changed].flatMap(([name, { value }]) => (value === '' ? [] : [name])));
    if (added.size === 0) return [];
    const replaced = uids([...changed.keys()]);
    const kept = [...uids(cookiePairs(header).map(([name]) => name))].filter((uid) => !replaced.has(uid));
    const surplus = kept.slice(0, Math.max(0, kept.length + added.size - interactionsMax));
    return surplus.flatMap((uid) => ['', '.sig'].map((suffix) => `${this.#names.interaction}_${uid}${suffix}`));
  }
}

type SetCookie = { readonly value: string; readonly expires: string | undefined };

function cookiePairs(header: string): (readonly [name: string, value: string])[] {
  return header.split(/;\s*/).map((pair) => {
    const equals = pair.indexOf('=');
    return [pair.slice(0, Math.max(equals, 0)), pair.slice(equals + 1)];
  });
}

function parseSetCookie(line: string): SetCookie & { readonly name: string; readonly path: string } {
  const [[name, value] = ['', ''], ...attributes] = cookiePairs(line);
  const valueOf = (attribute: string): string | undefined => attributes.findLast(([key]) => key.toLowerCase() === attribute)?.[1];
  return { name, value, path: valueOf('path') ?? '/', expires: valueOf('expires') };
}
