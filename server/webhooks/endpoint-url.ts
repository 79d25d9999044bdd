import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

/** Whether everybody can reach this address, and nobody's own network is behind it. IPv4 in the clothes of IPv6 is looked at as IPv4. */
export const isPublicAddress = (address: string): boolean => ipaddr.isValid(address) && ipaddr.process(address).range() === 'unicast';

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
