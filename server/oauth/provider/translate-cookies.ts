import type { RequestHandler, Response } from 'express';
import type { CookieNames } from '../protocol/cookie-names.ts';

/** Interactions that one browser may have open; a new one replaces the oldest. Their cookies go with every request, whose headers are limited. */
const interactionsMax = 8;

/**
 * Translates between the cookies of the browser and those of the engine. The engine limits the cookies of an interaction to the paths of its
 * pages, so that sign-ins in several tabs do not collide, but the `__Host-` prefix requires the path `/`. The browser therefore has a cookie
 * for each interaction, `<name>_<uid>`, and the engine gets the one whose uid is part of the path of the request, as `<name>`.
 *
 * Every cookie that a response sets gets its attributes here. Cookies with any other name are not passed on.
 */
export function translateCookies(names: CookieNames, secure: boolean): RequestHandler {
  const jar = new CookieTranslation(names, secure);
  return (req, res, next) => {
    const { cookie } = req.headers;
    if (cookie !== undefined) req.headers.cookie = jar.forEngine(cookie, req.path);
    const writeHead = res.writeHead.bind(res);
    // declared apart from the assignment for the reason given in `rewriteLocation`
    const translating = (...head: Parameters<typeof writeHead>): Response => {
      const lines = [res.getHeader('set-cookie') ?? []].flat().map(String);
      if (lines.length > 0) res.setHeader('Set-Cookie', jar.forBrowser(lines, cookie ?? ''));
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
  readonly #ofInteraction: RegExp;

  constructor(names: CookieNames, secure: boolean) {
    this.#names = names;
    this.#attributes = `Path=/; HttpOnly; SameSite=Lax${secure ? '; Secure' : ''}`;
    this.#ofInteraction = new RegExp(`^${names.interaction}_([\\w-]+?)(\\.sig)?$`);
  }

  /** The `Cookie` header for the engine. */
  forEngine(header: string, path: string): string {
    const { session, form, browser, interaction } = this.#names;
    const passedOn = new Set([session, `${session}.sig`, form, browser]);
    const segments = new Set(path.split('/'));
    return cookiePairs(header)
      .flatMap(([name, value]) => {
        if (passedOn.has(name)) return [`${name}=${value}`];
        const [, uid = '', signature = ''] = this.#ofInteraction.exec(name) ?? [];
        return uid !== '' && segments.has(uid) ? [`${interaction}${signature}=${value}`] : [];
      })
      .join('; ');
  }

  /** The `Set-Cookie` headers for a browser that sent `header`. The last one of each name counts. */
  forBrowser(lines: readonly string[], header: string): string[] {
    const { interaction } = this.#names;
    const translated = new Map<string, SetCookie>();
    for (const line of lines) {
      const { name, value, path, expires } = parseSetCookie(line);
      const isOfInteraction = name === interaction || name === `${interaction}.sig`;
      const uid = path.slice(path.lastIndexOf('/') + 1);
      if (isOfInteraction && uid === '') continue; // the engine removes a signature that it did not make, for a name that no browser has
      translated.set(isOfInteraction ? `${interaction}_${uid}${name.slice(interaction.length)}` : name, { value, expires });
    }
    for (const name of this.#surplusNames(header, translated)) translated.set(name, { value: '', expires: new Date(0).toUTCString() });
    return [...translated].map(
      ([name, { value, expires }]) => `${name}=${value}; ${this.#attributes}${expires === undefined ? '' : `; Expires=${expires}`}`,
    );
  }

  /** Returns the names of the interaction cookies beyond the limit: the oldest, which browsers send first. */
  #surplusNames(header: string, changed: ReadonlyMap<string, SetCookie>): string[] {
    const uids = (names: readonly string[]) => new Set(names.flatMap((name) => this.#ofInteraction.exec(name)?.[1] ?? []));
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
