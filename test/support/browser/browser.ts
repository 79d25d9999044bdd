import { randomInt } from 'node:crypto';

type Cookie = { readonly name: string; readonly value: string; readonly path: string };

/** Sends a request, as `fetch` does. */
export type Send = (url: URL, init: RequestInit) => Promise<Response>;

/** Longer than a server takes for anything. */
const patienceMs = 60_000;

/** What a browser does without its window: keeps cookies by path, follows redirects within the origin, sends forms. */
export class Browser {
  readonly #origin: string;
  readonly #send: Send;
  readonly address: string;
  #cookies: Cookie[] = [];

  /** `address`: where it seems to be, to a server that believes what a proxy says. `send`: the way to the server, if it is not at its origin. */
  constructor(origin: string, address = `10.${randomInt(256)}.${randomInt(256)}.${randomInt(256)}`, send: Send = fetch) {
    this.#origin = origin;
    this.address = address;
    this.#send = send;
  }

  /** One request, without following anything. */
  async request(pathOrUrl: string, init: RequestInit = {}): Promise<Response> {
    const url = new URL(pathOrUrl, this.#origin);
    const headers = new Headers(init.headers);
    if (!headers.has('accept')) headers.set('accept', 'text/html');
    headers.set('x-forwarded-for', this.address);
    const cookies = this.cookiesFor(url.pathname);
    if (cookies !== '') headers.set('cookie', cookies);
    const response = await this.#send(url, { signal: AbortSignal.timeout(patienceMs), ...init, headers, redirect: 'manual' });
    for (const line of response.headers.getSetCookie()) this.#keep(line, url.pathname);
    return response;
  }

  /** Follows redirects until a page, or until the way leads to another origin: then the answer is that redirect. */
  async open(pathOrUrl: string, init: RequestInit = {}): Promise<Page> {
    let url = new URL(pathOrUrl, this.#origin);
    let response = await this.request(url.href, init);
    for (let steps = 0; steps < 10; steps += 1) {
      const location = response.headers.get('location');
      if (location === null || response.status < 300 || response.status > 399) break;
      const next = new URL(location, url);
      if (next.origin !== this.#origin) return { url, response, text: '', leaves: next };
      url = next;
      response = await this.request(url.href);
    }
    return { url, response, text: await response.text(), leaves: undefined };
  }

  /** Sends the form of the page, with the hidden fields and ticks it came with. */
  async submit(page: Page, fields: Record<string, string | readonly string[]>): Promise<Page> {
    return this.open(page.url.href, formRequest(page, fields));
  }

  /** What it sends as `Cookie` with a request for this path. */
  cookiesFor(pathname: string): string {
    const sent = this.#cookies.filter(({ path }) => matches(pathname, path));
    return sent.map(({ name, value }) => `${name}=${value}`).join('; ');
  }

  /** The names of the cookies it holds, and a copy of the value of one. */
  cookie(name: string): string | undefined {
    return this.#cookies.find((cookie) => cookie.name === name)?.value;
  }

  #keep(line: string, requestPath: string): void {
    const [pair = '', ...attributes] = line.split(/;\s*/);
    const [name, value] = [pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1)];
    const attribute = (key: string): string | undefined =>
      attributes.find((one) => one.toLowerCase().startsWith(`${key}=`))?.slice(key.length + 1);
    const path = attribute('path') ?? requestPath.slice(0, requestPath.lastIndexOf('/')) ?? '/';
    this.#cookies = this.#cookies.filter((cookie) => cookie.name !== name || cookie.path !== path);
    const expires = attribute('expires');
    if (expires === undefined || new Date(expires) > new Date()) this.#cookies.push({ name, value, path });
  }
}

export type Page = {
  readonly url: URL;
  readonly response: Response;
  readonly text: string;
  /** Where the redirect leads that ends at another origin: to an application. */
  readonly leaves: URL | undefined;
};

/** The request that sending the first form of the page makes. */
export function formRequest(page: Page, fields: Record<string, string | readonly string[]>): RequestInit {
  const body = new URLSearchParams();
  const [form = ''] = /<form[^]*?<\/form>/.exec(page.text) ?? [];
  for (const [tag] of form.matchAll(/<input[^>]*>/g)) {
    const name = /\bname="([^"]*)"/.exec(tag)?.[1];
    const sent = /type="hidden"/.test(tag) || /\bchecked\b/.test(tag);
    if (name !== undefined && sent && !(name in fields)) body.append(name, unescape(/\bvalue="([^"]*)"/.exec(tag)?.[1] ?? ''));
  }
  for (const [name, value] of Object.entries(fields)) for (const one of [value].flat()) body.append(name, one);
  return { method: 'POST', body };
}

const unescape = (text: string): string =>
  text.replace(/&(amp|lt|gt|quot|#39);/g, (_all, name: string) => ({ amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'" })[name] ?? '');

const matches = (path: string, cookiePath: string): boolean =>
  cookiePath === '/' || path === cookiePath || path.startsWith(cookiePath.endsWith('/') ? cookiePath : `${cookiePath}/`);
