import { expect, test } from 'vitest';
import { ChunkedBodySizeLimiter } from '../../server/http/request/chunked-body-size-limiter.ts';

/** Reads the parts of a body, and returns the exceeded limit for each rejection. */
function readParts(limit: number, ...parts: readonly string[]): number[] {
  const rejections: number[] = [];
  const limiter = new ChunkedBodySizeLimiter(limit, (exceeded) => rejections.push(exceeded));
  for (const part of parts) limiter.read(Buffer.from(part, 'latin1'));
  return rejections;
}

/** The two chunks have announced sizes of 10 and 16 bytes, 26 bytes in total. */
const body = 'a\r\n0123456789\r\n10;name=value\r\n0123456789abcdef\r\n0\r\nTrailer: 1\r\n\r\n';

test('a chunked body is rejected once the announced sizes of its chunks exceed the limit, and only once', () => {
  expect([readParts(26, body), readParts(25, body), readParts(9, body)]).toEqual([[], [25], [9]]);
});

test('a chunk is rejected when its size is announced, before its data arrives', () => {
  expect([readParts(255, 'FF\r\n'), readParts(254, 'FF\r\n')]).toEqual([[], [254]]);
  // the size is incomplete until the line ends
  expect([readParts(254, 'FF'), readParts(254, 'F', 'F', '\r', '\n')]).toEqual([[], [254]]);
});

test('a body is measured in the same way if each byte arrives separately', () => {
  const bytes = Array.from(body);
  expect([readParts(26, ...bytes), readParts(25, ...bytes)]).toEqual([[], [25]]);
});

test('data and trailers that look like chunk sizes are not counted', () => {
  expect(readParts(6, '6\r\nff\r\nff\r\n0\r\nff\r\n\r\n')).toEqual([]);
  expect(readParts(0, '0\r\n', 'ff\r\n', '\r\n')).toEqual([]);
  expect(readParts(0, 'no size\r\n', 'ff\r\n')).toEqual([]);
});

test('after a chunk-size line of more than 1,000 characters, nothing more is measured', () => {
  const announced = (length: number): string => `1;${'x'.repeat(length - 3)}\r`;
  expect([readParts(0, `${announced(1_000)}\n`), readParts(0, `${announced(1_001)}\n`)]).toEqual([[0], []]);
  expect(readParts(0, announced(1_001), '\n1\r\n')).toEqual([]);
  expect(readParts(0, announced(1_001), 'x', '\nff\r\n')).toEqual([]);
});

test('a limit can be lowered while the body arrives, but not raised', () => {
  const rejections: number[] = [];
  const limiter = new ChunkedBodySizeLimiter(100, (exceeded) => rejections.push(exceeded));
  limiter.read(Buffer.from('a\r\n'));
  limiter.lowerLimit(10);
  limiter.lowerLimit(20);
  expect(rejections).toEqual([]);
  limiter.lowerLimit(9);
  limiter.lowerLimit(8);
  expect(rejections).toEqual([9]);
});
