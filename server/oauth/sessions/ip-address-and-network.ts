import { isIPv4, isIPv6 } from 'node:net';

/**
 * Describes the network of an IP address, such as `203.0.113.*` or `2001:db8:1::*`. The session list shows networks instead of locations,
 * because the server has no database of locations. It shows no complete addresses, because a stranger with access to one browser could
 * otherwise read the owner's address at home.
 */
export function describeNetwork(ip: string | null | undefined): string | undefined {
  const address = ip?.replace(/^::ffff:(?=\d+\.)/i, '') ?? '';
  if (isIPv4(address)) return `${address.split('.').slice(0, 3).join('.')}.*`;
  if (!isIPv6(address)) return undefined;
  return `${expandIpv6(address).slice(0, 3).join(':')}::*`;
}

/** Returns the eight groups of an IPv6 address. */
function expandIpv6(address: string): string[] {
  const [head = '', tail] = address.toLowerCase().split('%', 1).join('').split('::', 2);
  const [before, after] = [splitGroups(head), splitGroups(tail ?? '')];
  return [...before, ...Array.from({ length: 8 - before.length - after.length }, () => '0'), ...after];
}

const splitGroups = (part: string): string[] => (part === '' ? [] : part.split(':'));
