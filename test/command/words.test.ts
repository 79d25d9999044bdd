import { expect, test } from 'vitest';
import { sizeOf } from '../../server/command/words.ts';

test.each([
  [0, '0 B'],
  [999, '999 B'],
  [1_000, '1.0 kB'],
  [1_440_000, '1.4 MB'],
  [2_500_000_000_000_000, '2500.0 TB'],
])('%i bytes read as %s', (bytes, text) => {
  expect(sizeOf(bytes)).toBe(text);
});
