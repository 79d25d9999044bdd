import type { Middleware } from './middleware.ts';
import type { Fetch } from './transport.ts';

/**
 * Writes what is sent and what is answered, for finding faults: `createClient(...).use(debugLog(console.debug))`.
 * Tokens, secrets, codes, passwords and cookies are left out of headers, addresses and bodies; files are not written at all.
 */
export const debugLog =
  (write: (line: string) => void): Middleware =>
  (request, next) => {
    const { operation, attempt } = request;
    const title = [operation, attempt > 0 && `try ${attempt + 1}`].filter(Boolean).join(', ');
    return logged(write, request.url, request.init, () => next(request), title);
  };

/** The same around a `fetch`, for token sources: `refreshingTokens({ ..., fetch: debugFetch(console.debug) })`. */
export const debugFetch =
  (write: (line: string) => void, next: Fetch = (url, init) => fetch(url, init)): Fetch =>
  (url, init) =>
    logged(write, url, init, () => next(url, init));

async function logged(
  write: (line: string) => void,
  url: string,
  { method = 'GET', headers, body }: RequestInit,
  send: () => Promise<Response>,
  title = '',
): Promise<Response> {
  const begun = performance.now();
  const took = (): string => `${Math.round(performance.now() - begun)} ms`;
  const sent = typeof body === 'string' || body instanceof URLSearchParams ? ` ${redacted(body.toString())}` : body ? ' (a file)' : '';
  write(`> ${method} ${redactedUrl(url)}${title && ` (${title})`} ${headersText(new Headers(headers))}${sent}`);
  try {
    const response = await send();
    write(`< ${response.status} in ${took()} ${headersText(response.headers)}${await bodyText(response)}`);
    return response;
  } catch (error) {
    write(`< no answer after ${took()}: ${redacted(String(error))}`);
    throw error;
  }
}

async function bodyText(response: Response): Promise<string> {
  if (!/json/.test(response.headers.get('content-type') ?? '')) return '';
  // What breaks off here breaks off for the caller too, who is told.
  return ` ${redacted(
    await response
      .clone()
      .text()
      .catch(() => ''),
  )}`;
}

const mask = '***';
const secretName =
  /token(?:_hint)?$|secret|password|verifier|assertion$|cookie|^(?:proxy-)?authorization$|^dpop$|^(?:x-)?api[-_]?key$|^key$|^(?:user_)?code$/i;
/** The kinds of problems are called codes too, and ways to deliver; what a code of the protocol looks like is neither. */
const isPlainWord = (value: string): boolean => /^[a-z]+(?:_[a-z]+)*$/.test(value) && value.length <= 40;
const isSecret = (name: string, value: string): boolean => secretName.test(name) && !(name === 'code' && isPlainWord(value));

const headersText = (headers: Headers): string =>
  `{${Array.from(headers, ([name, value]) => `${name}: ${redactedHeader(name, value)}`).join(', ')}}`;

const redactedHeader = (name: string, value: string): string =>
  secretName.test(name) ? mask : name === 'location' ? redactedUrl(value) : withoutTokens(value);

function redactedUrl(url: string): string {
  const [place = '', ...query] = url.split(/(?<=[?#])/);
  return withoutTokens(place) + query.map(redactedForm).join('');
}

const redactedForm = (form: string): string =>
  form.replaceAll(/([^&?#=]+)=([^&?#]*)/g, (pair, name: string, value: string) =>
    isSecret(decoded(name), value) ? `${name}=${mask}` : withoutTokens(pair),
  );

function redacted(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), (name, value: unknown) =>
      typeof value !== 'string' ? value : isSecret(name, value) ? mask : withoutTokens(value),
    );
  } catch {
    return redactedForm(text);
  }
}

function decoded(name: string): string {
  try {
    return decodeURIComponent(name);
  } catch {
    return name;
  }
}

/** What is a secret by its looks, wherever it stands: JSON web tokens, API keys, secrets of webhooks, credentials after their scheme. */
const withoutTokens = (text: string): string =>
  text.replaceAll(/eyJ[\w-]+\.[\w-]+\.[\w-]*|\b(?:mk|whsec)_[\w+/=-]+|(?<=\b(?:Bearer|DPoP|Basic) )[\w.~+/=-]+/g, mask);
