import { randomInt } from 'node:crypto';

export type Cookie = { readonly name: string; readonly value: string; readonly path: string };

/** Sends a request; same signature as `fetch`. */
export type SendRequest = (url: URL, init: RequestInit) => Promise<Response>;

/** Request timeout, which is longer than the slowest server response. */
const requestTimeoutMs = 60_000;

/** An HTTP client that acts like a browser: it stores cookies by path, follows redirects within the origin and submits forms. */
export class HttpBrowser {
  readonly #origin: string;
  readonly #send: SendRequest;
  readonly ipAddress: string;
  #cookies: Cookie[] = [];

  /**
   * @param address the client IP address in `X-Forwarded-For`, for servers that trust a proxy
   * @param send function that sends the requests, for servers that do not listen at their origin
   */
  constructor(origin: string, address = `10.${randomInt(256)}.${randomInt(256)}.${randomInt(256)}`, send: SendRequest = fetch) {
    this.#origin = origin;
    this.ipAddress = address;
    this.#send = send;
  }

  /** Sends one request, without following redirects. */
  async request(pathOrUrl: string, init: RequestInit = {}): Promise<Response> {
    const url = new URL(pathOrUrl, this.#origin);
    const headers = new Headers(init.headers);
    if (!headers.has('accept')) headers.set('accept', 'text/html');
    headers.set('x-forwarded-for', this.ipAddress);
    const cookies = this.cookieHeader(url.pathname);
    if (cookies !== '') headers.set('cookie', cookies);
    const response = await this.#send(url, { signal: AbortSignal.timeout(requestTimeoutMs), ...init, headers, redirect: 'manual' });
    for (const line of response.headers.getSetCookie()) this.#storeCookie(line, url.pathname);
    return response;
  }

  /** Requests a URL and follows redirects within the origin. Returns the final page, or the redirect to another origin. */
  async open(pathOrUrl: string, init: RequestInit = {}): Promise<HtmlPage> {
    let url = new URL(pathOrUrl, this.#origin);
    let response = await this.request(url.href, init);
    for (let redirects = 0; redirects < 10; redirects += 1) {
      const location = response.headers.get('location');
      if (location === null || response.status < 300 || response.status > 399) break;
      const next = new URL(location, url);
      if (next.origin !== this.#origin) return { url, response, text: '', externalRedirect: next };
      url = next;
      response = await this.request(url.href);
    }
    return { url, response, text: removeLineBreakMarkup(await response.text()), externalRedirect: undefined };
  }

  /**
   * Submits the page's first form, including its hidden fields, checked boxes, default values and selected options; see `buildFormRequest`.
   */
  async submit(page: HtmlPage, fields: Record<string, string | readonly string[]>): Promise<HtmlPage> {
    return this.open(page.url.href, buildFormRequest(page, fields));
  }

  /** Returns the `Cookie` header for a request to this path. */
  cookieHeader(pathname: string): string {
    const matching = this.#cookies.filter(({ path }) => matchesCookiePath(pathname, path));
    return matching.map(({ name, value }) => `${name}=${value}`).join('; ');
  }

  get cookies(): readonly Cookie[] {
    return this.#cookies;
  }

  /** Returns a stored cookie's value. */
  cookieValue(name: string): string | undefined {
    return this.#cookies.find((cookie) => cookie.name === name)?.value;
  }

  #storeCookie(line: string, requestPath: string): void {
    const [pair = '', ...attributes] = line.split(/;\s*/);
    const [name, value] = [pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1)];
    const attribute = (key: string): string | undefined =>
      attributes.find((text) => text.toLowerCase().startsWith(`${key}=`))?.slice(key.length + 1);
    const path = attribute('path') ?? requestPath.slice(0, requestPath.lastIndexOf('/')) ?? '/';
    this.#cookies = this.#cookies.filter((cookie) => cookie.name !== name || cookie.path !== path);
    const [maxAge, expires] = [attribute('max-age'), attribute('expires')];
    // `Max-Age` has precedence (RFC 6265 section 5.3)
    const isDeleted = maxAge === undefined ? expires !== undefined && new Date(expires) <= new Date() : Number(maxAge) <= 0;
    if (!isDeleted) this.#cookies.push({ name, value, path });
  }
}

export type HtmlPage = {
  readonly url: URL;
  readonly response: Response;
  readonly text: string;
  /** Redirect target at another origin, such as an application's redirect URI. */
  readonly externalRedirect: URL | undefined;
};

/**
 * Builds the request that submits the page's first form. `decision: 'allow'` without `scope` selects every permission on the consent page,
 * including the permissions that are not selected when the page opens.
 */
export function buildFormRequest(page: HtmlPage, fields: Record<string, string | readonly string[]>): RequestInit {
  const body = new URLSearchParams();
  const [form = ''] = /<form[^]*?<\/form>/.exec(page.text) ?? [];
  for (const [tag] of form.matchAll(/<input[^>]*>/g)) {
    const name = /\bname="([^"]*)"/.exec(tag)?.[1];
    const hasDefaultValue = /type="(?:text|date)"/.test(tag) && /\bvalue="[^"]/.test(tag);
    const isAllowedScope = name === 'scope' && fields['decision'] === 'allow';
    const submitted = /type="hidden"/.test(tag) || /\bchecked\b/.test(tag) || hasDefaultValue || isAllowedScope;
    if (name !== undefined && submitted && !(name in fields))
      body.append(name, decodeHtmlEntities(/\bvalue="([^"]*)"/.exec(tag)?.[1] ?? ''));
  }
  for (const [, name = '', options = ''] of form.matchAll(/<select[^>]* name="([^"]*)"[^>]*>([^]*?)<\/select>/g)) {
    const [, selected] = /value="([^"]*)" selected/.exec(options) ?? /value="([^"]*)"/.exec(options) ?? [];
    if (selected !== undefined && !(name in fields)) body.append(name, selected);
  }
  for (const [name, value] of Object.entries(fields)) for (const item of [value].flat()) body.append(name, item);
  return { method: 'POST', body };
}

/** Removes the markup that controls only where browsers break lines, so that tests can search for texts and e-mail addresses. */
export const removeLineBreakMarkup = (page: string): string =>
  page.replaceAll(/<span class="unbroken">([^<]*)<\/span>/g, '$1').replaceAll('<wbr />', '');

const decodeHtmlEntities = (text: string): string =>
  text.replace(/&(amp|lt|gt|quot|#39);/g, (_all, name: string) => ({ amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'" })[name] ?? '');

const matchesCookiePath = (path: string, cookiePath: string): boolean =>
  cookiePath === '/' || path === cookiePath || path.startsWith(cookiePath.endsWith('/') ? cookiePath : `${cookiePath}/`);
