/** One request of a case, new for every time it is sent. */
export type Shot = {
  readonly method?: 'GET' | 'POST';
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
};

/** What is sent over and over. */
export type Traffic = {
  readonly first: () => Shot;
  /** How many different ones it gives; as many as one likes without it. */
  readonly distinct?: number;
  /** What each answer leads to. */
  readonly next?: Next;
};

type Next = {
  /** Where the answer has a value of use: between these two, or to the end. */
  readonly found: { readonly in: 'location' | 'body'; readonly after: string; readonly until: string };
  /** A POST with that value, in its body once. */
  readonly shot: (value: string) => Shot & { readonly body: string };
  /** Both requests are one of what is counted; otherwise each is one, and the answer of the second leads on to a third. */
  readonly together: boolean;
};

/** The head of a request up to the length of its body, and the body. */
export function partsOf(
  { method = 'GET', path, headers = {}, body = '' }: Shot,
  host: string,
): { readonly head: string; readonly body: string } {
  const lines = Object.entries({ host, ...headers }).map(([name, value]) => `${name}: ${value}`);
  return { head: [`${method} ${path} HTTP/1.1`, ...lines, ''].join('\r\n'), body };
}

/** As it goes over the wire. */
export function bytesOf(shot: Shot, host: string): string {
  const { head, body } = partsOf(shot, host);
  return `${head}${shot.method === 'POST' ? `content-length: ${Buffer.byteLength(body)}\r\n` : ''}\r\n${body}`;
}
