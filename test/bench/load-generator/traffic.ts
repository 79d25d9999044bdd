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
  /** Follow-up request that uses a value from the response. */
  readonly next?: Next;
};

type Next = {
  /** Location of the value in the response: between `after` and `until`, or from `after` to the end. */
  readonly valueLocation: { readonly in: 'location' | 'body'; readonly after: string; readonly until: string };
  /** Creates a POST request whose body contains `value` exactly once. */
  readonly createRequest: (value: string) => RequestSpec & { readonly body: string };
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
