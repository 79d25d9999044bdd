export type { Answer, Call, CallOptions, DryRun, IfMatch, IfNoneMatch, Result } from './call.ts';
export { createClient, type Client, type ClientOptions } from './client.ts';
export { dateOf, formatDate, type DateFormat } from './dates.ts';
export { debugFetch, debugLog } from './debug-log.ts';
export { deprecationText, type DeprecationNotice } from './deprecation.ts';
export type { DownloadedFile } from './download.ts';
export {
  AbortError,
  ApiError,
  AuthorizationError,
  ConnectionError,
  DecodeError,
  MandateError,
  SignInRequiredError,
  TimeoutError,
  WaitOverError,
  type ApiErrorOf,
  type TransportFailure,
  type UnknownCode,
} from './errors.ts';
export type { Middleware, OutgoingRequest } from './middleware.ts';
export { currencyExponent, formatMoney } from './money.ts';
export type { Page, PagedCall } from './paged-call.ts';
export { checkedBaseUrl, filledPath, isLoopback, queryString, type QueryValue } from './request-url.ts';
export type * from './resources.gen.ts';
export { scopesOf, type ProblemsOf } from './routes.gen.ts';
export { fixedToken, type ProvenRequest, type TokenSource } from './token-source.ts';
export type { ApiRequest, Fetch, SendOptions } from './transport.ts';
export type { FileContent, UploadOptions } from './upload.ts';
export type { WaitOptions } from './wait-for-task.ts';
