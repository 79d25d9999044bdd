import { isIPv4, isIPv6 } from 'node:net';

/** Formats an IP address for display. An IPv4 address that the socket reports in IPv6 notation is shown in IPv4 notation. */
export const formatIpAddress = (ip: string): string => ip.replace(/^::ffff:(?=\d+\.)/i, '');

/**
 * Returns the network that an IP address belongs to, such as `203.0.113.*` or `2001:db8:1::*`, so that the session list can highlight
 * sessions in the current browser's network.
 */
export function getNetworkOfIpAddress(ip: string | null | undefined): string | undefined {
  const address = formatIpAddress(ip ?? '');
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
