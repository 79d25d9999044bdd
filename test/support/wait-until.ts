import { setTimeout as sleep } from 'node:timers/promises';

const pollMs = 10;

/**
 * Waits until the condition returns a truthy value, and returns that value.
 * @param timeoutMs maximum wait (default: two minutes, which usually exceeds the test's own timeout)
 */
export async function waitUntil<Value>(condition: () => Value | Promise<Value>, timeoutMs = 120_000): Promise<NonNullable<Value>> {
  for (const end = performance.now() + timeoutMs; ; await sleep(pollMs)) {
    const value = await condition();
    if (value) return value;
    if (performance.now() > end) throw new Error(`not met within ${timeoutMs / 1000} s: ${condition.toString()}`);
  }
}
