import type { Answer, DryRun, IfMatch, IfNoneMatch } from './call.ts';
import { countdown } from './timeout.ts';
import { downloadedFile } from './download.ts';
import { ApiError, DecodeError } from './errors.ts';
import { through, type Middleware } from './middleware.ts';
import { queryString, type QueryValue } from './request-url.ts';
import { delayBeforeRetry, pause, unlessAborted, type RetryBudget, type RetryRules } from './retry.ts';
import type { ProvenRequest, TokenSource } from './token-source.ts';
import { canBeSentAgain, mediaTypeOf, uploadBody, type FileContent, type UploadOptions } from './upload.ts';

export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

export type TransportSettings = RetryRules & {
  readonly baseUrl: string;
  readonly auth: TokenSource | undefined;
  readonly fetch: Fetch;
  readonly middleware: readonly Middleware[];
  readonly timeoutMs: number;
  readonly deadlineMs: number;
  readonly budget: RetryBudget;
  readonly headers: Readonly<Record<string, string>>;
};

export type ApiRequest = {
  /** What a log calls it. */
  readonly operation?: string | undefined;
  readonly method: string;
  readonly path: string;
  readonly query?: Readonly<Record<string, QueryValue>> | undefined;
  /** Sent as JSON. */
  readonly body?: unknown;
  /** Sent as it is, in place of a body. */
  readonly file?: FileContent | undefined;
  /** `file`: what is answered is not read here, but given as a stream. */
  readonly answer?: 'file' | undefined;
};

export type SendOptions = UploadOptions & DryRun & IfMatch & IfNoneMatch;

/** A request whose outcome can be asked for again without harm. */
const isRepeatable = ({ method, file }: ApiRequest, headers: Headers): boolean =>
  (['GET', 'HEAD', 'PUT', 'DELETE'].includes(method) || headers.has('idempotency-key')) && canBeSentAgain(file);

/** Sends a request until it is answered, tries or time are used up, or the caller ends it. */
export async function send(settings: TransportSettings, request: ApiRequest, options: SendOptions = {}): Promise<Answer<unknown>> {
  const { auth, budget } = settings;
  const { signal } = options;
  const until = performance.now() + (options.deadlineMs ?? settings.deadlineMs);
  const headers = headersOf(settings, request, options);
  const maxRetries = isRepeatable(request, headers) ? (options.maxRetries ?? settings.maxRetries) : 0;
  let token = await unlessAborted(signal, auth?.accessToken(), until);
  let replaced = !canBeSentAgain(request.file);
  for (let attempt = 0; ; attempt++) {
    try {
      const answer = await exchange(settings, { ...request, headers, token, attempt, until }, options);
      budget.earn(attempt);
      return answer;
    } catch (error) {
      if (isRefusedToken(error) && token !== undefined && !replaced && auth?.replacement) {
        replaced = true;
        const replacement = await unlessAborted(signal, auth.replacement(token), until);
        if (replacement === undefined) throw error;
        token = replacement;
        attempt--;
        continue;
      }
      const delayMs = delayBeforeRetry(error, attempt, { ...settings, maxRetries });
      if (delayMs === undefined || performance.now() + delayMs >= until || !budget.spend()) throw error;
      await pause(delayMs, signal);
    }
  }
}

function headersOf(settings: TransportSettings, request: ApiRequest, options: SendOptions): Headers {
  const accepted = request.answer === 'file' ? '*/*' : 'application/json, application/problem+json';
  const headers = new Headers({ accept: accepted, ...settings.headers, ...options.headers });
  if (request.file !== undefined) headers.set('content-type', mediaTypeOf(request.file, options));
  else if (request.body !== undefined) headers.set('content-type', 'application/json');
  const conditions = { 'idempotency-key': options.idempotencyKey, 'if-match': options.ifMatch, 'if-none-match': options.ifNoneMatch };
  for (const [name, value] of Object.entries(conditions)) if (value !== undefined) headers.set(name, value);
  return headers;
}

const isRefusedToken = (error: unknown): boolean => (error instanceof ApiError || error instanceof DecodeError) && error.status === 401;

type Try = ApiRequest & {
  readonly headers: Headers;
  readonly token: string | undefined;
  readonly attempt: number;
  readonly until: number;
};

/** One try: the whole answer within the time for it; of a file, every piece. */
async function exchange(settings: TransportSettings, request: Try, options: SendOptions): Promise<Answer<unknown>> {
  const { method, file, operation, attempt, until } = request;
  const headers = new Headers(request.headers);
  const url = settings.baseUrl + request.path + queryString(request.query ?? {});
  const time = countdown(new URL(url).origin, options.timeoutMs ?? settings.timeoutMs, options.signal, until);
  const inTime = <T>(awaited: Promise<T>): Promise<T> =>
    awaited.catch((cause: unknown) => Promise.reject(broken ? broken.error : time.failure(cause)));
  let goesOn = false;
  let broken: { readonly error: unknown } | undefined;
  const watcher = {
    sent: (bytes: number): void => {
      time.restart();
      options.onProgress?.(bytes);
    },
    broke: (error: unknown): void => void (broken = { error }),
  };
  try {
    await authorize(settings.auth, { method, url, accessToken: request.token }, headers);
    const body = file === undefined ? { body: jsonOf(request) } : await uploadBody(file, watcher);
    // A redirect would turn a POST into a GET and could carry the token elsewhere; the API has none.
    const init = { ...body, method, headers, signal: time.signal, redirect: 'error' as const };
    const sent = through(settings.middleware, (outgoing) => inTime(settings.fetch(outgoing.url, outgoing.init)));
    const response = await sent({ operation, attempt, url, init });
    if (request.answer !== 'file' || response.status !== 200) return decoded(response, await inTime(response.text()));
    goesOn = true;
    return answered(response, downloadedFile(response, time));
  } finally {
    if (!goesOn) time.stop();
  }
}

async function authorize(auth: TokenSource | undefined, request: ProvenRequest, headers: Headers): Promise<void> {
  if (request.accessToken === undefined) return;
  const proof = await auth?.proof?.(request);
  headers.set('authorization', `${proof === undefined ? 'Bearer' : 'DPoP'} ${request.accessToken}`);
  if (proof !== undefined) headers.set('dpop', proof);
}

const jsonOf = ({ body }: ApiRequest): string | null => (body === undefined ? null : JSON.stringify(body));

function decoded(response: Response, text: string): Answer<unknown> {
  const { status, headers } = response;
  const data = text === '' && status < 400 ? undefined : parsed(response, text);
  if (status < 400) return answered(response, data);
  if (!isProblem(data)) throw new DecodeError(status, headers, text);
  throw new ApiError(status, data, headers);
}

const answered = ({ status, headers }: Response, data: unknown): Answer<unknown> => ({
  data,
  status,
  headers,
  requestId: headers.get('x-request-id') ?? undefined,
  replayed: headers.has('idempotent-replayed'),
});

function parsed({ status, headers }: Response, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new DecodeError(status, headers, text, cause);
  }
}

const isProblem = (data: unknown): data is { code: string } =>
  typeof data === 'object' && data !== null && 'code' in data && typeof data.code === 'string';
