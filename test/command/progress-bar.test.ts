import { expect, test } from 'vitest';
import { createProgressBar } from '../../server/command/progress-bar.ts';

/** Reports the progress, and returns the strings that the progress bar has written. */
function write(isTTY: boolean, ...progress: readonly (readonly [done: number, of: number])[]): string[] {
  const written: string[] = [];
  const onProgress = createProgressBar({ isTTY, write: (chunk) => written.push(String(chunk)) > 0 });
  for (const [done, of] of progress) onProgress('check', done, of);
  return written;
}

test('in a file, each completed stage is one line', () => {
  expect(write(false, [0, 4], [3, 4], [4, 4], [0, 0])).toEqual(['check: 4\n', 'check: 0\n']);
});

test('on a terminal, the bar grows with the progress, and a completed stage ends its line', () => {
  const bar = (filled: number): string => `\rcheck      ${'█'.repeat(filled)}${'░'.repeat(30 - filled)}`;
  expect(write(true, [0, 60], [29, 60], [60, 60])).toEqual([`${bar(0)} 0/60`, `${bar(14)} 29/60`, `${bar(30)} 60/60\n`]);
  expect(write(true, [0, 0])).toEqual([`${bar(30)} 0/0\n`]);
});

test('on a terminal, progress that would not change the bar is not drawn, except the end of a stage', () => {
  expect(write(true, [10, 1000], [20, 1000], [33, 1000], [34, 1000])).toHaveLength(2);
  expect(write(true, [1, 1], [1, 1])).toHaveLength(2);
});
