/** A request in a benchmark case. */
export type RequestSpec = {
  readonly method?: 'GET' | 'POST';
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
};

/** Requests that a load generator repeats. */
export type Traffic = {
  readonly first: () => RequestSpec;
  /** Number of distinct requests that `first` creates (default: unlimited). */
  readonly distinct?: number;
  /** Highest expected number of requests per second, if no request may be sent twice. */
  readonly neverRepeatedUpTo?: number;
  /** Follow-up request that uses a value from the response. */
  readonly next?: Next;
};

/** Location of a value in a response: between the strings `after` and `until`, or from `after` to the end. */
export type ValueLocation = { readonly in: 'location' | 'body'; readonly after: string; readonly until: string };

type Next = {
  readonly valueLocation: ValueLocation;
  /**
   * Creates a POST request that contains `value`. `customer` is the ID of the customer who sent the previous request, or an empty string if
   * `customers` is not set.
   */
  readonly createRequest: (value: string, customer: string) => RequestSpec & { readonly body: string };
  /**
   * The location of the customer's ID in the response, and the IDs of all customers. Set only if follow-up requests must be sent with the
   * customer's token.
   */
  readonly customers?: { readonly location: ValueLocation; readonly ids: readonly string[] };
  /**
   * Whether the first request and its follow-up request count as one request. Otherwise, each request counts separately, and the response
   * to the second request leads to a third request.
   */
  readonly countsAsOne: boolean;
};

/** Returns a request's head, without the `Content-Length` header and the final blank line, and its body. */
export function requestParts(
  { method = 'GET', path, headers = {}, body = '' }: RequestSpec,
  host: string,
): { readonly head: string; readonly body: string } {
  const lines = Object.entries({ host, ...headers }).map(([name, value]) => `${name}: ${value}`);
  return { head: [`${method} ${path} HTTP/1.1`, ...lines, ''].join('\r\n'), body };
}

/** Serializes a request as HTTP/1.1. */
export function serializeRequest(request: RequestSpec, host: string): string {
  const { head, body } = requestParts(request, host);
  return `${head}${request.method === 'POST' ? `content-length: ${Buffer.byteLength(body)}\r\n` : ''}\r\n${body}`;
}
