/** One try on its way to the service. */
export type OutgoingRequest = {
  /** The operation, such as `orders.create`; `undefined` for what has no method of its own. */
  readonly operation: string | undefined;
  /** 0 for the first try. */
  readonly attempt: number;
  readonly url: string;
  readonly init: RequestInit & { readonly method: string; readonly headers: Headers };
};

/**
 * Stands around every try: sees the request before it is sent, changed or answered by itself, and the answer after.
 * What it throws reaches the caller as it is, and is not tried again.
 */
export type Middleware = (request: OutgoingRequest, next: (request: OutgoingRequest) => Promise<Response>) => Promise<Response>;

type Send = (request: OutgoingRequest) => Promise<Response>;

/** `send` with `middleware` around it, the first outermost. */
export const through = (middleware: readonly Middleware[], send: Send): Send =>
  middleware.reduceRight<Send>((next, around) => (request) => around(request, next), send);
