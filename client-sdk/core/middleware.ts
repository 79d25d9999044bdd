/** One attempt to send a request. */
export type OutgoingRequest = {
  /** Name of the operation, such as `orders.create`; `undefined` if the operation has no SDK method. */
  readonly operation: string | undefined;
  /** 0 for the first attempt. */
  readonly attempt: number;
  readonly url: string;
  readonly init: RequestInit & { readonly method: string; readonly headers: Headers };
};

/**
 * Wraps every attempt. Middleware can read and change the request, respond without sending the request, and read and change the response.
 * Errors that the middleware throws are passed to the caller unchanged and are not retried.
 */
export type Middleware = (request: OutgoingRequest, next: (request: OutgoingRequest) => Promise<Response>) => Promise<Response>;

type Send = (request: OutgoingRequest) => Promise<Response>;

/** Wraps `send` with all middleware; the first one is the outermost. */
export const composeMiddleware = (middleware: readonly Middleware[], send: Send): Send =>
  middleware.reduceRight<Send>((next, wrap) => (request) => wrap(request, next), send);
