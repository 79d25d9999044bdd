/** Compares the server's check for public addresses with the IANA special-purpose registries. */
import { describe, expect, test } from 'vitest';
import { isPublicIpAddress } from '../../../server/outgoing-http/check-public-url.ts';
import { ipv4SpecialPurposeRegistry, ipv6SpecialPurposeRegistry } from '../../support/special-purpose-addresses.ts';

type Family = { readonly bits: 32 | 128; readonly parse: (text: string) => bigint; readonly format: (value: bigint) => string };
const ipv4: Family = {
  bits: 32,
  parse: (text) => text.split('.').reduce((value, part) => value * 256n + BigInt(part), 0n),
  format: (value) => [24n, 16n, 8n, 0n].map((shift) => String((value >> shift) & 255n)).join('.'),
};
const ipv6: Family = {
  bits: 128,
  parse: (text) => {
    const [before = [], after = []] = text.split('::').map((half) => half.split(':').filter((part) => part !== ''));
    const zeros = Array.from({ length: 8 - before.length - after.length }, () => '0');
    return [...before, ...zeros, ...after].reduce((value, part) => value * 65_536n + BigInt(`0x${part}`), 0n);
  },
  format: (value) => Array.from({ length: 8 }, (_, at) => ((value >> BigInt(112 - 16 * at)) & 0xffffn).toString(16)).join(':'),
};
const blockBounds = ({ bits, parse }: Family, block: string): { first: bigint; last: bigint } => {
  const [address = '', length = ''] = block.split('/');
  const first = parse(address);
  return { first, last: first + 2n ** BigInt(bits - Number(length)) - 1n };
};

describe.each([
  ['IPv4', ipv4, ipv4SpecialPurposeRegistry],
  ['IPv6', ipv6, ipv6SpecialPurposeRegistry],
] as const)('the IANA %s special-purpose address registry', (_name, family, registry) => {
  const bounds = registry.map(({ block }) => blockBounds(family, block));
  const isSpecial = (value: bigint): boolean => bounds.some(({ first, last }) => first <= value && value <= last);

  test.each(registry)('$block ($name, $rfc) is not public', ({ block }) => {
    const { first, last } = blockBounds(family, block);
    const probes = [first, first + 1n, (first + last) / 2n, last - 1n, last].filter((value) => first <= value && value <= last);
    expect(probes.map((value) => family.format(value)).filter(isPublicIpAddress)).toEqual([]);
  });

  test('addresses next to a block are public if they are global unicast', () => {
    const isGlobalUnicast = (value: bigint): boolean =>
      (family.bits === 32 ? value >> 28n < 0xen : value >> 125n === 1n) && !isSpecial(value);
    const neighbours = bounds
      .flatMap(({ first, last }) => [first - 1n, last + 1n])
      .filter((value) => value >= 0n && value < 2n ** BigInt(family.bits));
    const misclassified = neighbours.filter((value) => isPublicIpAddress(family.format(value)) !== isGlobalUnicast(value));
    expect(misclassified.map((value) => family.format(value))).toEqual([]);
    expect(neighbours.filter(isGlobalUnicast).length).toBeGreaterThan(5);
  });
});

describe('a special address in another notation', () => {
  const special = ['127.0.0.1', '10.0.0.1', '169.254.169.254', '192.168.1.1', '0.0.0.0', '100.64.0.1'];
  const hex = (address: string): string => {
    const value = ipv4.parse(address);
    return `${(value >> 16n).toString(16)}:${(value & 0xffffn).toString(16)}`;
  };
  const notations = special.flatMap((address) => [
    `::${address}`,
    `::${hex(address)}`,
    `::ffff:${address}`,
    `::ffff:${hex(address)}`,
    `::FFFF:${address}`,
    `0:0:0:0:0:ffff:${hex(address)}`,
    `::ffff:0:${address}`,
    `::ffff:0:${hex(address)}`,
    `64:ff9b::${address}`,
    `64:ff9b:1::${address}`,
    `2002:${hex(address)}::1`,
    `2001:0:${hex(address)}::1`,
  ]);
  const texts = ['127.1', '2130706433', '0x7f000001', '0x7f.1', '017700000001', '0177.0.0.1', '127.0.0.1.', ' 127.0.0.1', '127.0.0.1/8'];
  const zones = [
    'fe80::1%eth0',
    '::1%lo',
    '2606:4700:4700::1111%eth0',
    '8.8.8.8%eth0',
    '[::1]',
    '[2606:4700:4700::1111]',
    '::7f00:1',
    '::a00:1',
  ];
  test.each([...notations, ...texts, ...zones, '8.8.8.8.8', '8.8.8', '08.8.8.8', '::ffff:8.8.8.8', '::8.8.8.8', '4000::1', '1::1'])(
    '%s is not public',
    (address) => expect(isPublicIpAddress(address)).toBe(false),
  );
});
