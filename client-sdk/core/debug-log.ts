import type { Middleware } from './middleware.ts';
import type { Fetch } from './token-source.ts';

/**
 * Logs requests and responses for debugging: `createClient(...).use(debugLog(console.debug))`.
 * Tokens, secrets, codes, passwords and cookies are masked in headers, URLs and bodies; files are not logged.
 */
export const debugLog =
  (write: (line: string) => void): Middleware =>
  (request, next) => {
    const { operation, attempt } = request;
    const title = [operation, attempt > 0 && `attempt ${attempt + 1}`].filter(Boolean).join(', ');
    return sendAndLog(write, request.url, request.init, () => next(request), title);
  };

/** Wraps a `fetch` function with the same logging, for token sources: `refreshingTokens({ ..., fetch: debugFetch(console.debug) })`. */
export const debugFetch =
  (write: (line: string) => void, next: Fetch = (url, init) => fetch(url, init)): Fetch =>
  (url, init) =>
    sendAndLog(write, url, init, () => next(url, init));

async function sendAndLog(
  write: (line: string) => void,
  url: string,
  { method = 'GET', headers, body }: RequestInit,
  send: () => Promise<Response>,
  title = '',
): Promise<Response> {
  const startedAt = performance.now();
  const duration = (): string => `${Math.round(performance.now() - startedAt)} ms`;
  const sent = typeof body === 'string' || body instanceof URLSearchParams ? ` ${redacted(body.toString())}` : body ? ' (a file)' : '';
  write(`> ${method} ${redactedUrl(url)}${title && ` (${title})`} ${headersText(new Headers(headers))}${sent}`);
  try {
    const response = await send();
    write(`< ${response.status} in ${duration()} ${headersText(response.headers)}${await bodyText(response)}`);
    return response;
  } catch (error) {
    write(`< no response after ${duration()}: ${redacted(String(error))}`);
    throw error;
  }
}

async function bodyText(response: Response): Promise<string> {
  if (!/json/.test(response.headers.get('content-type') ?? '')) return '';
  // Read errors are ignored here, because the caller reads the same body and receives the same errors.
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
/** Returns whether a `code` value is a plain word. Problem codes and delivery method codes are plain words; secret OAuth codes are not. */
const isPlainWord = (value: string): boolean => /^[a-z]+(?:_[a-z]+)*$/.test(value) && value.length <= 40;
const isSecret = (name: string, value: string): boolean => secretName.test(name) && !(name === 'code' && isPlainWord(value));

const headersText = (headers: Headers): string =>
  `{${Array.from(headers, ([name, value]) => `${name}: ${redactedHeader(name, value)}`).join(', ')}}`;

const redactedHeader = (name: string, value: string): string =>
  secretName.test(name) ? mask : name === 'location' ? redactedUrl(value) : withoutTokens(value);

function redactedUrl(url: string): string {
  const [base = '', ...query] = url.split(/(?<=[?#])/);
  return withoutTokens(base) + query.map(redactedForm).join('');
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

/**
 * Masks values that look like secrets anywhere in a string: JSON Web Tokens, API keys, webhook secrets, and credentials after an
 * authorization scheme.
 */
const withoutTokens = (text: string): string =>
  text.replaceAll(/eyJ[\w-]+\.[\w-]+\.[\w-]*|\b(?:mk|whsec)_[\w+/=-]+|(?<=\b(?:Bearer|DPoP|Basic) )[\w.~+/=-]+/g, mask);
