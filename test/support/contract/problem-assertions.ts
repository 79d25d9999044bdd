import { describe, expect, test } from 'vitest';
import type { RateLimits } from '../../../server/rate-limits/rate-limits.ts';
import type { Mandate } from '../server/start-mandate.ts';
import { generous } from '../server/start-options.ts';
import { inTwoProcesses } from '../server/process-mode.ts';
import {
  codesOf,
  isIdempotent,
  isProvoked,
  provoke,
  routeNamed,
  sendValid,
  type Spoilers,
  type Valid,
  whileBroken,
  whileKeysAreHeld,
} from './provoke-problems.ts';

type ProblemTestOptions = {
  readonly mandate: () => Mandate;
  /** The rate limits of the server. Tests modify them. */
  readonly rateLimits: RateLimits;
  readonly validRequest: (operation: string) => Promise<Valid>;
  readonly spoilers: (operation: string) => Spoilers;
};

/** Defines the tests for the problem codes that all operations share. Problem codes of one operation are tested with that operation. */
export function failsAsDeclared(operations: readonly string[], { mandate, rateLimits, validRequest, spoilers }: ProblemTestOptions): void {
  describe.each(operations)('%s', (operation) => {
    const route = routeNamed(operation);

    test('returns the matching problem code for an invalid request', async () => {
      const request = await validRequest(operation);
      const missing: string[] = [];
      for (const code of codesOf(route).filter((declared) => isProvoked(declared, route))) {
        if (!(await provoke(mandate(), code, route, request, spoilers(operation)))) missing.push(code);
      }
      expect(missing).toEqual([]);
    });

    test('returns problem codes for requests above the rate limit and above the monthly quota', async ({ skip }) => {
      skip(inTwoProcesses, 'needs one process: changes the limits of a running server');
      const request = await validRequest(operation);
      const sendWithLimits = async (limits: Partial<RateLimits>): Promise<string> => {
        Object.assign(rateLimits, limits);
        try {
          return (await sendValid(mandate(), request)).body.code;
        } finally {
          Object.assign(rateLimits, generous);
        }
      };
      expect([await sendWithLimits({ default: 0 }), await sendWithLimits({ monthly: 0 })]).toEqual(['rate_limited', 'quota_exceeded']);
    });

    test.runIf('304' in route.responses)('returns 304 when the request contains the current ETag', async () => {
      const request = await validRequest(operation);
      const etag = (await sendValid(mandate(), request)).headers.get('etag') ?? '';
      const conditional = await sendValid(mandate(), request, { 'if-none-match': etag });
      expect([conditional.status, conditional.headers.get('etag')]).toEqual([304, etag]);
    });

    test.runIf(isIdempotent(route))('rejects the idempotency key of a different request and of an in-flight request', async () => {
      const { em } = mandate().db;
      const request = await validRequest(operation);
      const key = `other-${operation.replace(' ', '-')}`;
      expect((await sendValid(mandate(), request, { 'idempotency-key': key })).status).toBeLessThan(300);
      await em.fork().execute(`update idempotency_keys set request_hash = 'another' where key = ?`, [key]);
      expect((await sendValid(mandate(), request, { 'idempotency-key': key })).body.code).toBe('idempotency_key_reused');
      const another = await validRequest(operation);
      const send = () => sendValid(mandate(), another, { 'idempotency-key': `held-${key}` });
      const { body } = await whileKeysAreHeld(mandate().db, send);
      expect(body.code).toBe('idempotency_in_progress');
    });
  });

  test.each([
    ['internal_error', 'P0001'],
    // cannot_connect_now: the database is starting up
    ['unavailable', '57P03'],
    // disk_full
    ['insufficient_storage', '53100'],
  ])('every operation returns %s for the matching database error', async (code, sqlState) => {
    const requests: [string, Valid][] = [];
    for (const operation of operations) requests.push([operation, await validRequest(operation)]);
    const sendAll = () =>
      Promise.all(requests.map(async ([operation, request]) => [operation, (await sendValid(mandate(), request)).body?.code]));
    const codes = await whileBroken(mandate().db, sqlState, sendAll);
    expect(codes).toEqual(requests.map(([operation]) => [operation, code]));
  });
}
