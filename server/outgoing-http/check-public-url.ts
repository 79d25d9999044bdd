import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

/** The only IPv6 block with global unicast addresses (RFC 4291 section 2.4), and the special-purpose blocks within it. */
const globalUnicast = ipaddr.IPv6.parseCIDR('2000::/3');
const specialGlobalUnicast = ['2001::/23', '2001:db8::/32', '2002::/16', '2620:4f:8000::/48', '3fff::/20'].map((block) =>
  ipaddr.IPv6.parseCIDR(block),
);

/**
 * Returns whether an address is on the public internet, that is, a global unicast address outside of the IANA special-purpose blocks. IPv6
 * addresses that embed an IPv4 address (IPv4-mapped, IPv4-compatible, IPv4-translated, NAT64, 6to4, Teredo) and addresses with a zone index
 * are not considered public. Text that is not exactly one address is not considered public either.
 */
export function isPublicIpAddress(text: string): boolean {
  const family = text.includes('%') ? 0 : isIP(text);
  if (family === 4) return ipaddr.IPv4.parse(text).range() === 'unicast';
  if (family !== 6) return false;
  const address = ipaddr.IPv6.parse(text);
  return address.match(globalUnicast) && address.range() === 'unicast' && !specialGlobalUnicast.some((block) => address.match(block));
}

const loopbackHosts = new Set(['localhost', '127.0.0.1', '[::1]']);
const privateNames = /(^|\.)(localhost|local|localdomain|internal|intranet|lan|home|corp|arpa|onion|test|invalid)$/;

/** Returns whether a URL points to this machine. Such URLs are allowed in development. */
export const isLoopbackUrl = ({ hostname }: URL): boolean => loopbackHosts.has(hostname);

/**
 * Returns the reason why a URL is not allowed, or `undefined` if the URL is allowed. Only the URL itself is checked here. The addresses of
 * the host are checked for each connection.
 * @param development whether HTTP requests to this machine are allowed
 * @param example a valid URL to mention in the reason
 */
export function findUrlRejectionReason(text: string, development: boolean, example?: string): string | undefined {
  if (!URL.canParse(text) || /[\p{Cc}\p{Cs}\s\\]/u.test(text))
    return example === undefined ? 'must be an absolute URL' : `must be an absolute URL such as ${example}`;
  const url = new URL(text);
  if (url.username || url.password) return 'must not contain a user name or a password';
  if (url.hash || text.includes('#')) return 'must not contain a fragment';
  if (development && isLoopbackUrl(url) && /^https?:$/.test(url.protocol)) return undefined;
  if (url.protocol !== 'https:') return 'must begin with https://';
  if (isIP(url.hostname.replace(/^\[|\]$/g, ''))) return 'must have a host name, not an IP address';
  const name = url.hostname.replace(/\.$/, '');
  if (!name.includes('.') || privateNames.test(name)) return 'must have a host name that is publicly resolvable';
  const port = url.port === '' ? 443 : Number(url.port);
  // servers for mail and other services on well-known ports must not receive HTTP requests
  if (port !== 443 && port <= 1023) return 'must use port 443 or a port above 1023';
  return undefined;
}
