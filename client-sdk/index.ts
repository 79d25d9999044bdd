export type { ResponseWithData, Call, CallOptions, DryRun, IfMatch, IfNoneMatch, Result, TransportFailure } from './core/api-call.ts';
export { createClient, type Client, type ClientOptions } from './client/client.ts';
export { formatAddressLines } from './format/addresses.ts';
export { dateOf, formatDate, type DateFormat } from './format/dates.ts';
export { debugFetch, debugLog } from './core/debug-log.ts';
export { formatDeprecationText, type DeprecationNotice } from './core/deprecation.ts';
export type { DownloadedFile } from './core/downloaded-file.ts';
export { AuthorizationError, SignInRequiredError } from './core/authorization-errors.ts';
export {
  AbortError,
  ApiError,
  ConnectionError,
  DecodeError,
  MandateError,
  TimeoutError,
  WaitTimeoutError,
  type ApiErrorOf,
  type UnknownCode,
} from './core/errors.ts';
export type { Middleware, OutgoingRequest } from './core/middleware.ts';
export { currencyExponent, formatMoney } from './format/money.ts';
export type { Page, PagedCall } from './core/paged-call.ts';
export { checkedBaseUrl, filledPath, isLoopback, queryString, type QueryValue } from './core/request-url.ts';
export type * from './generated/resources.gen.ts';
export { scopesOf, type ProblemsOf } from './generated/routes.gen.ts';
export { fixedToken, type ProvenRequest, type TokenSource, type Fetch } from './core/token-source.ts';
export type { ApiRequest, SendOptions } from './core/transport.ts';
export type { FileContent, UploadOptions } from './core/upload-body.ts';
export { waitForApproval, type ApprovalWaitOptions } from './client/wait-for-approval.ts';
export type { WaitOptions } from './client/wait-for-task.ts';
