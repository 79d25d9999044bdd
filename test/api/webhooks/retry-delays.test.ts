import { expect, test } from 'vitest';
import {
  calculateEndpointPauseMs,
  calculateRetryDelayMs,
  parseRetryAfterMs,
} from '../../../server/webhooks/delivery/calculate-retry-delays.ts';

const [second, minute, hour] = [1_000, 60_000, 3_600_000];
const now = new Date('2030-01-01T12:00:00Z');

test('the nine delays between ten attempts grow from 5 seconds to a day, and no attempt follows the tenth', () => {
  const delays = Array.from({ length: 10 }, (_, index) => calculateRetryDelayMs(index + 1, undefined, 0.5));
  const expected = [5 * second, 5 * minute, 30 * minute, 2 * hour, 5 * hour, 10 * hour, 14 * hour, 20 * hour, 24 * hour];
  expect(delays).toEqual([...expected, undefined]);
});

test('a delay varies by 10 percent in both directions', () => {
  expect([0, 1].map((random) => calculateRetryDelayMs(2, undefined, random))).toEqual([4.5 * minute, 5.5 * minute]);
});

test('a delay that the endpoint requests is used if it is longer, but not after the last attempt', () => {
  expect([calculateRetryDelayMs(1, minute, 0.5), calculateRetryDelayMs(1, second, 0.5)]).toEqual([minute, 5 * second]);
  expect(calculateRetryDelayMs(10, minute, 0.5)).toBeUndefined();
});

test.each([
  [429, undefined, 5 * second],
  [502, undefined, 5 * second],
  [504, undefined, 5 * second],
  // a 503 response may affect only one delivery; only `Retry-After` indicates that all deliveries are affected
  [503, undefined, 0],
  [503, minute, minute],
  [429, 0, 0],
  [500, minute, 0],
  [404, undefined, 0],
])('the status %i with a requested delay of %s ms pauses the endpoint for %i ms', (status, requestedMs, pauseMs) => {
  expect(calculateEndpointPauseMs(status, requestedMs)).toBe(pauseMs);
});

test.each([
  [undefined, undefined],
  ['0', 0],
  [' 90 ', 90 * second],
  ['86400', 24 * hour],
  ['86401', 24 * hour],
  ['Tue, 01 Jan 2030 12:01:00 GMT', minute],
  ['Tue, 01 Jan 2030 11:59:00 GMT', 0],
  ['Thu, 03 Jan 2030 12:00:00 GMT', 24 * hour],
  ['Tue, 01 Jan 2030 12:01:00 +0000', minute],
  ['2030-01-01T12:01:00Z', minute],
  ['soon', undefined],
  ['x9', undefined],
  ['', undefined],
])('Retry-After: %s requests a delay of %s ms', (header, milliseconds) => {
  expect(parseRetryAfterMs(header, now)).toBe(milliseconds);
});
