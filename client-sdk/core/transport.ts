import type { ResponseWithData, DryRun, IfMatch, IfNoneMatch } from './api-call.ts';
import { startRequestTimeout } from './request-timeout.ts';
import { downloadedFileFromResponse } from './downloaded-file.ts';
import { ApiError, DecodeError } from './errors.ts';
import { getProperty } from './get-property.ts';
import { composeMiddleware, type Middleware } from './middleware.ts';
import { queryString, type QueryValue } from './request-url.ts';
import { calculateRetryDelay, waitUnlessAborted, awaitUntilAbortOrDeadline, type RetryBudget, type RetryLimits } from './retry-policy.ts';
import type { Fetch, ProvenRequest, TokenSource } from './token-source.ts';
import { canSendFileMoreThanOnce, resolveUploadMediaType, createUploadBody, type FileContent, type UploadOptions } from './upload-body.ts';

export type TransportSettings = RetryLimits & {
  readonly baseUrl: string;
  readonly auth: TokenSource | undefined;
  readonly fetch: Fetch;
  readonly middleware: readonly Middleware[];
  readonly timeoutMs: number;
  readonly deadlineMs: number;
  readonly budget: RetryBudget;
  readonly headers: Readonly<Record<string, string>>;
};

/** A request to the API. */
export type ApiRequest = {
  /** Name of the operation in logs. */
  readonly operation?: string | undefined;
  readonly method: string;
  readonly path: string;
  readonly query?: Readonly<Record<string, QueryValue>> | undefined;
  /** Request body, sent as JSON. */
  readonly body?: unknown;
  /** File that is sent unchanged instead of `body`. */
  readonly file?: FileContent | undefined;
  /** `file`: the response body is returned as a stream. */
  readonly responseType?: 'file' | undefined;
};

export type SendOptions = UploadOptions & DryRun & IfMatch & IfNoneMatch;

/** Returns whether a request is safe to retry. */
const isRepeatable = ({ method, file }: ApiRequest, headers: Headers): boolean =>
  (['GET', 'HEAD', 'PUT', 'DELETE'].includes(method) || headers.has('idempotency-key')) && canSendFileMoreThanOnce(file);

/** Sends a request and retries it until it succeeds, fails permanently, exceeds the retry limit or deadline, or is aborted. */
export async function sendWithRetries(
  settings: TransportSettings,
  request: ApiRequest,
  options: SendOptions = {},
): Promise<ResponseWithData<unknown>> {
  const { auth, budget } = settings;
  const { signal } = options;
  const until = performance.now() + (options.deadlineMs ?? settings.deadlineMs);
  const headers = headersOf(settings, request, options);
  const maxRetries = isRepeatable(request, headers) ? (options.maxRetries ?? settings.maxRetries) : 0;
  let token = await awaitUntilAbortOrDeadline(signal, auth?.accessToken(), until);
  let isTokenReplaced = !canSendFileMoreThanOnce(request.file);
  for (let attempt = 0; ; attempt++) {
    try {
      const response = await sendOnce(settings, { ...request, headers, token, attempt, until }, options);
      budget.earn(attempt);
      return response;
    } catch (error) {
      if (isRejectedToken(error) && token !== undefined && !isTokenReplaced && auth?.replacement) {
        isTokenReplaced = true;
        const replacement = await awaitUntilAbortOrDeadline(signal, auth.replacement(token), until);
        if (replacement === undefined) throw error;
        token = replacement;
        attempt--;
        continue;
      }
      const delayMs = calculateRetryDelay(error, attempt, { ...settings, maxRetries });
      if (delayMs === undefined || performance.now() + delayMs >= until || !budget.spend()) throw error;
      await waitUnlessAborted(delayMs, signal);
    }
  }
}

function headersOf(settings: TransportSettings, request: ApiRequest, options: SendOptions): Headers {
  const accepted = request.responseType === 'file' ? '*/*' : 'application/json, application/problem+json';
  const headers = new Headers({ accept: accepted, ...settings.headers, ...options.headers });
  const { file, body } = request;
  const ofRequest = {
    'content-type': file !== undefined ? resolveUploadMediaType(file, options) : body !== undefined ? 'application/json' : undefined,
    'idempotency-key': options.idempotencyKey,
    'if-match': options.ifMatch,
    'if-none-match': options.ifNoneMatch,
  };
  for (const [name, value] of Object.entries(ofRequest)) if (value !== undefined) headers.set(name, value);
  return headers;
}

const isRejectedToken = (error: unknown): boolean => (error instanceof ApiError || error instanceof DecodeError) && error.status === 401;

type Attempt = ApiRequest & {
  readonly headers: Headers;
  readonly token: string | undefined;
  readonly attempt: number;
  readonly until: number;
};

/** Makes one attempt. The timeout applies to the complete response or, for a file, to each chunk. */
async function sendOnce(settings: TransportSettings, request: Attempt, options: SendOptions): Promise<ResponseWithData<unknown>> {
  const { method, file, operation, attempt, until } = request;
  const headers = new Headers(request.headers);
  const url = settings.baseUrl + request.path + queryString(request.query ?? {});
  const timeout = startRequestTimeout(new URL(url).origin, options.timeoutMs ?? settings.timeoutMs, options.signal, until);
  const mapErrors = <T>(awaited: Promise<T>): Promise<T> =>
    awaited.catch((cause: unknown) => Promise.reject(uploadError ? uploadError.error : timeout.failure(cause)));
  let isStreaming = false;
  let uploadError: { readonly error: unknown } | undefined;
  const uploadObserver = {
    sent: (bytes: number): void => {
      timeout.restart();
      options.onProgress?.(bytes);
    },
    broke: (error: unknown): void => void (uploadError = { error }),
  };
  try {
    await authorize(settings.auth, { method, url, accessToken: request.token }, headers);
    // `JSON.stringify` returns `undefined` if there is no body.
    const body = file === undefined ? { body: JSON.stringify(request.body) } : await createUploadBody(file, uploadObserver);
    // A redirect could turn a POST into a GET or send the token to a different host. Cloudflare Workers do not support `redirect: 'error'`.
    const init = { ...body, method, headers, signal: timeout.signal, redirect: 'manual' as const };
    const send = settings.auth?.wrapFetch?.(settings.fetch) ?? settings.fetch;
    const sendThroughMiddleware = composeMiddleware(settings.middleware, (outgoing) => mapErrors(send(outgoing.url, outgoing.init)));
    const response = await sendThroughMiddleware({ operation, attempt, url, init });
    if (request.responseType !== 'file' || response.status !== 200) return decode(response, await mapErrors(response.text()));
    isStreaming = true;
    return toResponseWithData(response, downloadedFileFromResponse(response, timeout));
  } finally {
    if (!isStreaming) timeout.stop();
  }
}

async function authorize(auth: TokenSource | undefined, request: ProvenRequest, headers: Headers): Promise<void> {
  if (request.accessToken === undefined) return;
  const proof = await auth?.proof?.(request);
  headers.set('authorization', `${proof === undefined ? 'Bearer' : 'DPoP'} ${request.accessToken}`);
  if (proof !== undefined) headers.set('dpop', proof);
}

function decode(response: Response, text: string): ResponseWithData<unknown> {
  const isSuccess = response.ok || response.status === 304;
  const data = text === '' && isSuccess ? undefined : parseJson(response, text);
  if (isSuccess) return toResponseWithData(response, data);
  if (!isProblem(data)) throw new DecodeError(response, text);
  throw new ApiError(response.status, data, response.headers);
}

const toResponseWithData = ({ status, headers }: Response, data: unknown): ResponseWithData<unknown> => ({
  data,
  status,
  headers,
  requestId: headers.get('x-request-id') ?? undefined,
  replayed: headers.has('idempotent-replayed'),
});

function parseJson(response: Response, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new DecodeError(response, text, cause);
  }
}

const isProblem = (data: unknown): data is { code: string } => typeof getProperty(data, 'code') === 'string';
