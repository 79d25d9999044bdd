import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { DiskSpaceMonitor, diskSpaceReserveBytes } from '../../server/database/storage/disk-space-monitor.ts';

const segmentBytes = 16 * 1024 * 1024;

class MonitorWithSetSpace extends DiskSpaceMonitor {
  bytes = 0;
  override get freeBytes(): number {
    return this.bytes;
  }
}

beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }));
afterEach(() => void vi.useRealTimers());

test('disk space is low below two WAL segments, and each change is logged once', () => {
  const logged: unknown[] = [];
  const record =
    (level: string) =>
    (details: object, message: string): void =>
      void logged.push([level, details, message.split(':')[0]]);
  const monitor = new MonitorWithSetSpace('/data', { error: record('error'), info: record('info') });
  const isLowWith = (bytes: number): boolean => {
    vi.advanceTimersByTime(10);
    monitor.bytes = bytes;
    return monitor.isLow();
  };
  expect(diskSpaceReserveBytes).toBe(2 * segmentBytes);
  expect([diskSpaceReserveBytes, diskSpaceReserveBytes - 1, 0, diskSpaceReserveBytes, diskSpaceReserveBytes + 1].map(isLowWith)).toEqual([
    false,
    true,
    true,
    false,
    false,
  ]);
  const details = { directory: '/data', reserve_bytes: diskSpaceReserveBytes };
  expect(logged).toEqual([
    ['error', { ...details, free_bytes: diskSpaceReserveBytes - 1 }, 'disk space is low'],
    ['info', { ...details, free_bytes: diskSpaceReserveBytes }, 'disk space is available again'],
  ]);
});

test('the disk is checked at most every 10 ms', () => {
  const monitor = new MonitorWithSetSpace('/data');
  expect(monitor.isLow()).toBe(true);
  monitor.bytes = diskSpaceReserveBytes;
  vi.advanceTimersByTime(9);
  expect(monitor.isLow()).toBe(true);
  vi.advanceTimersByTime(1);
  expect(monitor.isLow()).toBe(false);
});

test.each([
  [segmentBytes - 1, false],
  [segmentBytes, true],
])('with %i free bytes, there is space for a WAL segment: %s', (bytes, expected) => {
  const monitor = new MonitorWithSetSpace('/data');
  monitor.bytes = bytes;
  expect(monitor.hasSegment).toBe(expected);
});
