import { isIPv6 } from 'node:net';

/**
 * Returns the network to which rate limits apply. For IPv6, rate limits apply to the /64 prefix of an address, because a household or
 * server usually has a whole /64 network. For IPv4, rate limits apply to a single address.
 */
export function rateLimitNetworkFromAddress(address: string | undefined): string {
  if (address === undefined) return 'unknown';
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1];
  if (mapped !== undefined) return mapped;
  const [plain = ''] = address.split('%', 1); // strip the zone index
  return isIPv6(plain) ? `${ipv6Groups(plain).slice(0, 4).join(':')}::/64` : address;
}

/** Returns all eight groups of an IPv6 address. The URL parser first normalizes the address. */
function ipv6Groups(address: string): string[] {
  const [head = '', tail] = new URL(`http://[${address}]`).hostname.slice(1, -1).split('::');
  const before = head === '' ? [] : head.split(':');
  if (tail === undefined) return before;
  const after = tail === '' ? [] : tail.split(':');
  return [...before, ...Array.from({ length: 8 - before.length - after.length }, () => '0'), ...after];
}
