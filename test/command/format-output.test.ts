import { expect, test } from 'vitest';
import { formatBytes } from '../../server/command/format-output.ts';

test.each([
  [0, '0 B'],
  [999, '999 B'],
  [1_000, '1.0 kB'],
  [1_440_000, '1.4 MB'],
  [2_500_000_000_000_000, '2500.0 TB'],
])('%i bytes are formatted as %s', (bytes, text) => {
  expect(formatBytes(bytes)).toBe(text);
});
