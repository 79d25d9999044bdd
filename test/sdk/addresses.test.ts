import { expect, test } from 'vitest';
import { formatAddressLines } from '@mandate/client-sdk';

const recipient = { recipient_name: 'Anna Test', line1: '1 High Street' };
const place = { city: 'Leeds', region: 'Yorkshire', postal_code: 'LS1 1AA' };

test.each([
  ['GB', 'en', ['Leeds', 'Yorkshire', 'LS1 1AA', 'United Kingdom']],
  ['IE', 'en', ['Leeds', 'Yorkshire', 'LS1 1AA', 'Ireland']],
  ['US', 'en', ['Leeds, Yorkshire LS1 1AA', 'United States']],
  ['CA', 'en', ['Leeds Yorkshire LS1 1AA', 'Canada']],
  ['AU', 'en', ['Leeds Yorkshire LS1 1AA', 'Australia']],
  ['DE', 'de', ['LS1 1AA Leeds', 'Yorkshire', 'Deutschland']],
  ['XX', 'en', ['LS1 1AA Leeds', 'Yorkshire', 'XX']],
])('an address in %s is formatted in the order of the country', (country, locale, lines) => {
  expect(formatAddressLines({ ...recipient, ...place, country }, locale)).toEqual(['Anna Test', '1 High Street', ...lines]);
});

test.each([
  [{ ...recipient, line2: 'Flat 2', city: 'Boston', country: 'US' }, ['Anna Test', '1 High Street', 'Flat 2', 'Boston', 'United States']],
  [{ recipient_name: 'Anna Test', phone: '+44 113 496 0000' }, ['Anna Test', '+44 113 496 0000']],
])('parts that an address does not have are omitted: %j', (address, lines) => {
  expect(formatAddressLines(address, 'en')).toEqual(lines);
});
