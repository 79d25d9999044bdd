import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

/** The only IPv6 block that IANA assigns global unicast addresses from (RFC 4291, section 2.4), and the special-purpose blocks within it. */
const globalUnicast = ipaddr.IPv6.parseCIDR('2000::/3');
const specialGlobalUnicast = ['2001::/23', '2001:db8::/32', '2002::/16', '2620:4f:8000::/48', '3fff::/20'].map((block) =>
  ipaddr.IPv6.parseCIDR(block),
);

/**
 * Whether an address belongs to the public internet: global unicast, outside every block of the IANA special-purpose registries. No
 * notation that embeds an IPv4 address is public (IPv4-mapped, IPv4-compatible, IPv4-translated, NAT64, 6to4, Teredo), and no address
 * with a zone. Any text that is not one complete address is not public.
 */
export function isPublicAddress(text: string): boolean {
  const family = text.includes('%') ? 0 : isIP(text);
  if (family === 4) return ipaddr.IPv4.parse(text).range() === 'unicast';
  if (family !== 6) return false;
  const address = ipaddr.IPv6.parse(text);
  return address.match(globalUnicast) && address.range() === 'unicast' && !specialGlobalUnicast.some((block) => address.match(block));
}

const loopbackHosts = new Set(['localhost', '127.0.0.1', '[::1]']);
const privateNames = /(^|\.)(localhost|local|localdomain|internal|intranet|lan|home|corp|arpa|onion|test|invalid)$/;

/** Whether it leads to this machine itself, which is accepted in development. */
export const isLoopbackUrl = ({ hostname }: URL): boolean => loopbackHosts.has(hostname);

/**
 * Why nothing is sent to this address; `undefined` when something may be. What a name leads to is looked at again for every attempt.
 * @param development whether http to this machine is accepted
 */
export function urlFault(text: string, development: boolean): string | undefined {
  if (!URL.canParse(text) || /[\p{Cc}\s\\]/u.test(text)) return 'must be an absolute address such as https://example.com/webhooks';
  const url = new URL(text);
  if (url.username || url.password) return 'must not have a user name or a password in it';
  if (url.hash || text.includes('#')) return 'must not have a fragment';
  if (development && isLoopbackUrl(url) && /^https?:$/.test(url.protocol)) return undefined;
  if (url.protocol !== 'https:') return 'must begin with https://';
  if (isIP(url.hostname.replace(/^\[|\]$/g, ''))) return 'must have a name, not the number of an address';
  const name = url.hostname.replace(/\.$/, '');
  if (!name.includes('.') || privateNames.test(name)) return 'must have a name that everybody can resolve';
  const port = url.port === '' ? 443 : Number(url.port);
  // below live mail servers and others that are not meant to be spoken to like this
  if (port !== 443 && port <= 1023) return 'must have the port 443 or one above 1023';
  return undefined;
}
