import { expect, test } from 'vitest';
import { dateOf, formatDate } from '@mandate/client-sdk';

test.each([
  ['2026-11-20T23:30:00.000Z', { locale: 'en-GB', timeZone: 'UTC' }, '20 Nov 2026'],
  ['2026-11-20T23:30:00.000Z', { locale: 'en-GB', timeZone: 'Europe/Berlin' }, '21 Nov 2026'],
  ['2026-11-20T23:30:00.000Z', { locale: 'de', timeZone: 'UTC', timeStyle: 'short' }, '20.11.2026, 23:30'],
  ['2026-03-29T01:30:00Z', { locale: 'en-GB', timeZone: 'Europe/Berlin', dateStyle: 'short', timeStyle: 'short' }, '29/03/2026, 03:30'],
] as const)('%s is formatted for the locale and the time zone', (instant, format, expected) => {
  expect(formatDate(instant, format)).toBe(expected);
});

test('dateOf converts a timestamp, and rejects any other text', () => {
  expect(dateOf('2026-11-20T12:00:00.123Z').getTime()).toBe(Date.UTC(2026, 10, 20, 12, 0, 0, 123));
  for (const wrong of ['', 'yesterday', '2026-13-40T00:00:00Z', '20/11/2026', '1']) expect(() => dateOf(wrong)).toThrow(TypeError);
});
