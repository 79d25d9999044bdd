import { expect, test } from 'vitest';
import { formatTableAndRowCounts, formatBytes, formatSecondsSince } from '../../server/command/format-counts-seconds-and-bytes.ts';

test.each([
  [0, '0 B'],
  [999, '999 B'],
  [1_000, '1.0 kB'],
  [1_440_000, '1.4 MB'],
  [2_500_000_000_000_000, '2500.0 TB'],
])('%i bytes are formatted as %s', (bytes, text) => {
  expect(formatBytes(bytes)).toBe(text);
});

test('the contents of a backup are formatted with separated thousands', () => {
  expect(formatTableAndRowCounts({ tables: 34, rows: 1_102_345 })).toBe('34 tables, 1,102,345 rows');
});

test('a duration is formatted in seconds', () => {
  expect(formatSecondsSince(performance.now() - 61_500)).toMatch(/^61\.[5-9] s$/);
});
