import type { IncomingMessage, ServerResponse } from 'node:http';
import { hasRecordIdHashPrefix } from '../../../server/oauth/storage/oauth-record-mapping.ts';
import { hostileInputs } from '../network/hostile-inputs.ts';

/** Secret fields in the authorization server's forms, URLs and responses. */
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
/** Secret fields in API responses. Fields such as `code` are not secret in the API. */
const secretFieldsOfApi = new Set(['client_secret', 'initial_access_token', 'key', 'secret']);
/** Values shorter than this length are placeholders in tests, such as the token `x`. */
const minSecretLength = 8;

const none: readonly string[] = [];
const hashedLength = 4;
/** Adds a character to a rolling hash of the last `hashedLength` characters. */
const continueHash = (hash: number, text: string, index: number): number => ((hash << 4) ^ text.charCodeAt(index)) & 0xffff;

/** Returns the values that the text contains. Reads the text only once, because some tests use thousands of secrets. */
function findContained(values: readonly string[], text: string): Set<string> {
  const valuesByHash: string[][] = [];
  for (const value of values) {
    let hash = 0;
    for (let index = 0; index < hashedLength; index += 1) hash = continueHash(hash, value, index);
    (valuesByHash[hash] ??= []).push(value);
  }
  const found = new Set<string>();
  let hash = 0;
  for (let index = 0; index < text.length; index += 1) {
    hash = continueHash(hash, text, index);
    for (const value of valuesByHash[hash] ?? none) if (text.startsWith(value, index - hashedLength + 1)) found.add(value);
  }
  return found;
}

type Exchange = { readonly url: string; readonly status: number; readonly requestBody: string; readonly responseBody: string };
type ResponseHeaders = { readonly location: string | null; readonly cookies: readonly string[]; readonly type: string };

/** Records all secrets in HTTP traffic: in forms, request headers, responses, redirects and cookies. */
export class SecretLeakDetector {
  readonly #found = new Map<string, string>();
  readonly #fetch = globalThis.fetch;
  #recordingFetch: typeof fetch | undefined;

  /** Records the secrets in a request to an in-process server, and in the server's response. */
  recordExchange(req: IncomingMessage, res: ServerResponse): void {
    const { authorization } = req.headers;
    const [requestBody, responseBody]: [Buffer[], Buffer[]] = [[], []];
    const emit = req.emit.bind(req);
    req.emit = (event: string | symbol, ...rest: unknown[]): boolean => {
      if (event === 'data' && Buffer.isBuffer(rest[0])) requestBody.push(rest[0]);
      return emit(event, ...rest);
    };
    for (const name of ['write', 'end'] as const) {
      const original = res[name].bind(res);
      Reflect.set(res, name, (...given: unknown[]): unknown => {
        const [chunk] = given;
        if (typeof chunk === 'string' || Buffer.isBuffer(chunk)) responseBody.push(Buffer.from(chunk));
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
      this.#recordSecrets(
        { ...exchange, requestBody: isForm ? text(requestBody) : '', responseBody: text(responseBody) },
        authorization,
        headers,
      );
    });
  }

  /** Records the secrets in all `fetch` calls of this process, for servers in child processes. */
  recordFetchCalls(): void {
    if (globalThis.fetch !== this.#fetch) return;
    this.#recordingFetch = async (input, init) => {
      const response = await this.#fetch(input, init);
      const { headers, status } = response;
      const type = headers.get('content-type') ?? '';
      const responseHeaders = { location: headers.get('location'), cookies: headers.getSetCookie(), type };
      const requestBody = init?.body instanceof URLSearchParams ? init.body.toString() : '';
      const responseBody = status < 400 && /^application\/json|^text\/html/.test(type) ? await response.clone().text() : '';
      const { pathname, search } = new URL(input instanceof Request ? input.url : input);
      this.#recordSecrets(
        { url: pathname + search, status, requestBody, responseBody },
        new Headers(init?.headers).get('authorization') ?? undefined,
        responseHeaders,
      );
      return response;
    };
    globalThis.fetch = this.#recordingFetch;
  }

  /** Stops recording the `fetch` calls, and forgets all secrets. */
  reset(): void {
    if (globalThis.fetch === this.#recordingFetch) globalThis.fetch = this.#fetch;
    this.#found.clear();
  }

  /** Returns the recorded secrets found in the text, each with its source. */
  findSecretsIn(text: string): string[] {
    const contained = findContained([...this.#found.keys()], text);
    return [...this.#found].filter(([secret]) => contained.has(secret)).map(([secret, source]) => `${source}: ${secret}`);
  }

  #recordSecrets(
    { url, status, requestBody, responseBody }: Exchange,
    authorization: string | undefined,
    { location, cookies, type }: ResponseHeaders,
  ): void {
    if (status >= 400) return; // credentials in rejected requests are not secret
    const isApi = url.includes('/api/');
    const names = isApi ? secretFieldsOfApi : secretFields;
    this.#addAll(new URLSearchParams(requestBody), names, 'sent');
    if (!isApi && URL.canParse(url, 'http://server')) this.#addAll(new URL(url, 'http://server').searchParams, names, 'URL');
    if (authorization !== undefined) this.#addCredentials(authorization);
    if (location !== null && URL.canParse(location)) this.#addAll(new URL(location).searchParams, names, 'redirect');
    for (const cookie of cookies) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(cookie) ?? [];
      if (!name.endsWith('.sig')) this.#add(value, `cookie ${name}`);
    }
    if (type.startsWith('application/json')) this.#addJson(responseBody, names);
    // recovery codes and an authenticator app's secret
    if (type.startsWith('text/html') && url.includes('/account/'))
      for (const [, code = ''] of responseBody.matchAll(/<code>([^<]+)<\/code>/g)) this.#add(code.replaceAll(' ', ''), 'page');
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
      return; // the response is incomplete
    }
    if (typeof body === 'object' && body !== null) this.#addAll(Object.entries(body), names, 'response');
  }

  #addAll(fields: Iterable<[string, unknown]>, names: ReadonlySet<string>, source: string): void {
    for (const [name, value] of fields) {
      if (typeof value !== 'string') continue;
      if (names.has(name)) this.#add(value, `${source} ${name}`);
      // the device page accepts the user code with and without the hyphen
      if (name === 'user_code' && source === 'response') for (const code of [value, value.replace('-', '')]) this.#add(code, name);
    }
  }

  #add(value: string, source: string): void {
    const secret = value.replace(/^urn:ietf:params:oauth:request_uri:/, '');
    // tests also send hashed record IDs and hostile inputs, which are not secret
    if (secret.length >= minSecretLength && !hasRecordIdHashPrefix(secret) && !hostileInputs.includes(secret))
      this.#found.set(secret, source);
  }
}
