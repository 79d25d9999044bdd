import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { ReplaceableMailTransport } from '../../../server/process/reload-mail-and-stripe-on-sighup.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test('a replaced mail transport stays open for a minute, so that it can finish sending; its successor stays open', async () => {
  const transport = () => ({ send: vi.fn<() => Promise<void>>(() => Promise.resolve()), close: vi.fn<() => void>() });
  const [before, after] = [transport(), transport()];
  const replaceable = new ReplaceableMailTransport(before);
  replaceable.replace(after);
  await replaceable.send({ to: 'anna@example.com', subject: 's', text: 't', html: 'h' });
  expect([before.send.mock.calls.length, after.send.mock.calls.length]).toEqual([0, 1]);
  vi.advanceTimersByTime(59_000);
  expect(before.close).not.toHaveBeenCalled();
  vi.advanceTimersByTime(1_000);
  expect([before.close.mock.calls.length, after.close.mock.calls.length]).toEqual([1, 0]);
});
