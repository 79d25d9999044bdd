export type QueryValue = string | number | boolean | readonly (string | number)[] | undefined;

/**
 * Replaces the `{placeholders}` of a path in order. Throws if a value is empty, because the path would then refer to a different resource.
 */
export function filledPath(template: string, values: readonly (string | number)[]): string {
  let next = 0;
  return template.replaceAll(/\{(\w*)\}/g, (_, name: string) => {
    const value = values[next++];
    const text = String(value ?? '');
    // URL parsers remove dot segments, even if they are percent-encoded.
    if (text === '' || text === '.' || text === '..')
      throw new TypeError(`${name || 'a path parameter'} must not be ${JSON.stringify(value ?? '')}`);
    return encodeURIComponent(text);
  });
}

/** Formats query parameters, with a leading `?`. Lists become comma-separated values. */
export function queryString(query: Readonly<Record<string, QueryValue>>): string {
  const pairs: [string, string][] = Object.entries(query).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, Array.isArray(value) ? value.join(',') : String(value)]],
  );
  return pairs.length === 0 ? '' : `?${new URLSearchParams(pairs).toString().replaceAll('%2C', ',')}`;
}

/**
 * Validates a base URL and returns its scheme, host and path without a trailing slash.
 * Plain HTTP would send tokens unencrypted, so it is accepted only for this machine, unless `allowInsecure` is set.
 */
export function checkedBaseUrl(url: string, allowInsecure = false): string {
  if (!/^https?:/i.test(url) || !URL.canParse(url)) throw new TypeError(`${JSON.stringify(url)} is not a URL such as https://shop.example`);
  const { protocol, hostname, origin, pathname, username, password, search, hash } = new URL(url);
  if (username || password || search || hash) throw new TypeError('a base URL must not contain a user name, password, query or fragment');
  if (protocol === 'http:' && !allowInsecure && !isLoopback(hostname)) {
    throw new TypeError(`${origin} does not use https; set allowInsecureRequests to permit this`);
  }
  return origin + pathname.replace(/\/+$/, '');
}

/** Returns whether a host name refers to this machine. */
export const isLoopback = (hostname: string): boolean =>
  hostname === 'localhost' || hostname === '[::1]' || /^127(?:\.\d+){3}$/.test(hostname);
