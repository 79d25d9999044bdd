import { expect, test } from 'vitest';
import { EndpointConcurrencyLimiter } from '../../../server/webhooks/delivery/endpoint-concurrency-limiter.ts';

const [succeeded, failed, late] = [
  { failed: false, milliseconds: 10 },
  { failed: true, milliseconds: 10 },
  { failed: false, milliseconds: 2_001 },
];

test('an endpoint gets at most eight concurrent attempts, and all endpoints together 64', () => {
  const limiter = new EndpointConcurrencyLimiter();
  for (let attempt = 0; attempt < 3; attempt += 1) limiter.acquire(1);
  expect(limiter.capacity()).toEqual({ total: 61, each: 8, left: new Map([[1, 5]]) });
  for (let endpoint = 2; endpoint < 9; endpoint += 1) for (let attempt = 0; attempt < 7; attempt += 1) limiter.acquire(endpoint);
  for (let attempt = 0; attempt < 4; attempt += 1) limiter.acquire(9);
  expect([limiter.capacity().total, limiter.hasBatchCapacity()]).toEqual([8, true]);
  const release = limiter.acquire(9);
  expect([limiter.capacity().total, limiter.hasBatchCapacity()]).toEqual([7, false]);
  release(succeeded);
  expect(limiter.hasBatchCapacity()).toBe(true);
});

test('releasing a slot twice releases it once', () => {
  const limiter = new EndpointConcurrencyLimiter();
  const [first] = [limiter.acquire(1), limiter.acquire(1)];
  first(succeeded);
  first(failed);
  expect(limiter.capacity()).toEqual({ total: 63, each: 8, left: new Map([[1, 7]]) });
});

test('an endpoint that fails three times in succession, or responds late, gets one attempt at a time until it responds quickly', () => {
  const limiter = new EndpointConcurrencyLimiter();
  const capacityAfter = (result: Parameters<ReturnType<typeof limiter.acquire>>[0]): number | undefined => {
    limiter.acquire(1)(result);
    return limiter.capacity().left.get(1);
  };
  expect([failed, failed, succeeded, failed, failed].map(capacityAfter)).toEqual([8, 8, undefined, 8, 8]);
  // a skipped attempt neither counts as a failure nor breaks a series of failures
  expect([undefined, failed, undefined].map(capacityAfter)).toEqual([8, 1, 1]);
  const release = limiter.acquire(1);
  expect(limiter.capacity().left.get(1)).toBe(0);
  release(succeeded);
  expect(limiter.capacity().left.get(1)).toBeUndefined();
  expect([late, { failed: false, milliseconds: 2_000 }].map(capacityAfter)).toEqual([1, undefined]);
});

test('slow endpoints use at most 24 slots, so that the other slots remain for responsive endpoints', () => {
  const limiter = new EndpointConcurrencyLimiter();
  for (let endpoint = 1; endpoint <= 25; endpoint += 1) limiter.acquire(endpoint)(late);
  const releases = Array.from({ length: 24 }, (_, index) => limiter.acquire(index + 1));
  expect(limiter.capacity().left.get(25)).toBe(0);
  releases[0]?.(late);
  expect(limiter.capacity().left.get(25)).toBe(1);
});
