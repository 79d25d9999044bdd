import type { IncomingMessage, ServerResponse } from 'node:http';
import { isHashedRecordId } from '../../../server/oauth/storage/oauth-record-mapping.ts';
import { hostile } from '../network/hostile-network.ts';

/** Fields of forms, addresses and answers of the authorization server that open something. */
const secretFields = new Set([
  'access_token',
  'refresh_token',
  'id_token',
  'code',
  'token',
  'device_code',
  'client_secret',
  'initial_access_token',
  'password',
  'new_password',
  'current_password',
  'request_uri',
  'csrf',
]);
/** Of answers of the API, which has codes that are none. */
const secretFieldsOfApi = new Set(['client_secret', 'initial_access_token', 'key', 'secret']);
/** Shorter ones are no secrets of ours: a test that sends `x` for a token. */
const lengthMin = 8;

type Exchange = { readonly url: string; readonly status: number; readonly sent: string; readonly answered: string };
type AnswerHeaders = { readonly location: string | null; readonly cookies: readonly string[]; readonly type: string };

/** Remembers every secret that goes over the wire: what is sent in forms and headers, and what comes in answers, redirects and cookies. */
export class SecretsInUse {
  readonly #found = new Map<string, string>();
  readonly #fetch = globalThis.fetch;

  /** Looks at what reaches a server of this process, whoever sends it, and at what it answers. */
  tap(req: IncomingMessage, res: ServerResponse): void {
    const { authorization } = req.headers;
    const [sent, answered]: [Buffer[], Buffer[]] = [[], []];
    const emit = req.emit.bind(req);
    req.emit = (event: string | symbol, ...rest: unknown[]): boolean => {
      if (event === 'data' && Buffer.isBuffer(rest[0])) sent.push(rest[0]);
      return emit(event, ...rest);
    };
    for (const name of ['write', 'end'] as const) {
      const original = res[name].bind(res);
      Reflect.set(res, name, (...given: unknown[]): unknown => {
        const [chunk] = given;
        if (typeof chunk === 'string' || Buffer.isBuffer(chunk)) answered.push(Buffer.from(chunk));
        return Reflect.apply(original, res, given);
      });
    }
    const isForm = (req.headers['content-type'] ?? '').startsWith('application/x-www-form-urlencoded');
    res.on('close', () => {
      const location = res.getHeader('location');
      const headers = {
        location: typeof location === 'string' ? location : null,
        cookies: [res.getHeader('set-cookie') ?? []].flat().map(String),
        type: String(res.getHeader('content-type') ?? ''),
      };
      const exchange = { url: req.url ?? '/', status: res.statusCode };
      const text = (chunks: Buffer[]): string => Buffer.concat(chunks).toString();
      this.#note({ ...exchange, sent: isForm ? text(sent) : '', answered: text(answered) }, authorization, headers);
    });
  }

  /** The same for servers in processes of their own: looks at what this process asks them with `fetch`. */
  watch(): void {
    if (globalThis.fetch !== this.#fetch) return;
    globalThis.fetch = async (input, init) => {
      const response = await this.#fetch(input, init);
      const { headers, status } = response;
      const type = headers.get('content-type') ?? '';
      const looked = { location: headers.get('location'), cookies: headers.getSetCookie(), type };
      const sent = init?.body instanceof URLSearchParams ? init.body.toString() : '';
      const answered = status < 400 && /^application\/json|^text\/html/.test(type) ? await response.clone().text() : '';
      const { pathname, search } = new URL(input instanceof Request ? input.url : input);
      this.#note({ url: pathname + search, status, sent, answered }, new Headers(init?.headers).get('authorization') ?? undefined, looked);
      return response;
    };
  }

  /** Those that stand in the text, named by where they were met. */
  among(text: string): string[] {
    return [...this.#found].filter(([secret]) => text.includes(secret)).map(([secret, where]) => `${where}: ${secret}`);
  }

  #note({ url, status, sent, answered }: Exchange, authorization: string | undefined, { location, cookies, type }: AnswerHeaders): void {
    if (status >= 400) return; // what is refused opens nothing
    const ofApi = url.includes('/api/');
    const names = ofApi ? secretFieldsOfApi : secretFields;
    this.#addAll(new URLSearchParams(sent), names, 'sent');
    if (!ofApi && URL.canParse(url, 'http://server')) this.#addAll(new URL(url, 'http://server').searchParams, names, 'address');
    if (authorization !== undefined) this.#addCredentials(authorization);
    if (location !== null && URL.canParse(location)) this.#addAll(new URL(location).searchParams, names, 'redirect');
    for (const cookie of cookies) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(cookie) ?? [];
      if (!name.endsWith('.sig')) this.#add(value, `cookie ${name}`);
    }
    if (type.startsWith('application/json')) this.#addJson(answered, names);
    // recovery codes, and the key of an authenticator app
    if (type.startsWith('text/html') && url.includes('/account/'))
      for (const [, code = ''] of answered.matchAll(/<code>([^<]+)<\/code>/g)) this.#add(code.replaceAll(' ', ''), 'shown');
  }

  #addCredentials(authorization: string): void {
    const [, scheme = '', credentials = ''] = /^(\S+) +(\S+)$/.exec(authorization) ?? [];
    if (!/^basic$/i.test(scheme)) return this.#add(credentials, scheme);
    const [, secret = ''] = Buffer.from(credentials, 'base64').toString().split(':', 2);
    return this.#add(secret, scheme);
  }

  #addJson(text: string, names: ReadonlySet<string>): void {
    let body: unknown;
    try {
      body = JSON.parse(text);
    } catch {
      return; // cut off
    }
    if (typeof body === 'object' && body !== null) this.#addAll(Object.entries(body), names, 'answer');
  }

  #addAll(fields: Iterable<[string, unknown]>, names: ReadonlySet<string>, where: string): void {
    for (const [name, value] of fields) {
      if (typeof value !== 'string') continue;
      if (names.has(name)) this.#add(value, `${where} ${name}`);
      // the page that takes it answers in the same way whether it is one
      if (name === 'user_code' && where === 'answer') for (const code of [value, value.replace('-', '')]) this.#add(code, name);
    }
  }

  #add(value: string, where: string): void {
    const secret = value.replace(/^urn:ietf:params:oauth:request_uri:/, '');
    // tests also present what the table calls a record, and what is no secret at all, to see it refused
    if (secret.length >= lengthMin && !isHashedRecordId(secret) && !hostile.includes(secret)) this.#found.set(secret, where);
  }
}
