import { describe, expect, test } from 'vitest';
import type { RateLimits } from '../../../server/rate-limits/rate-limit-and-quota-counter.ts';
import type { ApiServer } from '../server/start-mandate.ts';
import { unlimitedRates } from '../server/start-options.ts';
import { usesTwoProcesses } from '../server/process-mode.ts';
import {
  declaredProblemCodes,
  acceptsIdempotencyKey,
  canProvokeProblem,
  provokeProblem,
  findRoute,
  sendValidRequest,
  type ProblemInputs,
  type ValidRequest,
  withFailingUserQueries,
  withLockedIdempotencyKeys,
} from './provoke-problems.ts';

type ProblemTestOptions = {
  readonly mandate: () => ApiServer;
  /** The server's rate limits. Tests modify these limits. */
  readonly rateLimits: RateLimits;
  readonly validRequest: (operation: string) => Promise<ValidRequest>;
  readonly spoilers: (operation: string) => ProblemInputs;
};

/** Defines the tests for the problem codes that all operations share. Other problem codes are tested with their operations. */
export function testDeclaredProblems(
  operations: readonly string[],
  { mandate, rateLimits, validRequest, spoilers }: ProblemTestOptions,
): void {
  describe.each(operations)('%s', (operation) => {
    const route = findRoute(operation);

    test('returns the matching problem code for an invalid request', async () => {
      const request = await validRequest(operation);
      const missing: string[] = [];
      for (const code of declaredProblemCodes(route).filter((declared) => canProvokeProblem(declared, route))) {
        if (!(await provokeProblem(mandate(), code, route, request, spoilers(operation)))) missing.push(code);
      }
      expect(missing).toEqual([]);
    });

    test('returns problem codes for requests above the rate limit and above the monthly quota', async ({ skip }) => {
      skip(usesTwoProcesses, 'needs one process: changes the limits of a running server');
      const request = await validRequest(operation);
      const sendWithLimits = async (limits: Partial<RateLimits>): Promise<string> => {
        Object.assign(rateLimits, limits);
        try {
          return (await sendValidRequest(mandate(), request)).body.code;
        } finally {
          Object.assign(rateLimits, unlimitedRates);
        }
      };
      expect([await sendWithLimits({ default: 0 }), await sendWithLimits({ monthly: 0 })]).toEqual(['rate_limited', 'quota_exceeded']);
    });

    test.runIf('304' in route.responses)('returns 304 when the request contains the current ETag', async () => {
      const request = await validRequest(operation);
      const etag = (await sendValidRequest(mandate(), request)).headers.get('etag') ?? '';
      const conditional = await sendValidRequest(mandate(), request, { 'if-none-match': etag });
      expect([conditional.status, conditional.headers.get('etag')]).toEqual([304, etag]);
    });

    test.runIf(acceptsIdempotencyKey(route))('rejects the idempotency key of a different request and of an in-flight request', async () => {
      const { em } = mandate().db;
      const request = await validRequest(operation);
      const key = `other-${operation.replace(' ', '-')}`;
      expect((await sendValidRequest(mandate(), request, { 'idempotency-key': key })).status).toBeLessThan(300);
      await em.fork().execute(`update idempotency_keys set request_hash = 'another' where key = ?`, [key]);
      expect((await sendValidRequest(mandate(), request, { 'idempotency-key': key })).body.code).toBe('idempotency_key_reused');
      const another = await validRequest(operation);
      const send = () => sendValidRequest(mandate(), another, { 'idempotency-key': `held-${key}` });
      const { body } = await withLockedIdempotencyKeys(mandate().db, send);
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
    const requests: [string, ValidRequest][] = [];
    for (const operation of operations) requests.push([operation, await validRequest(operation)]);
    const sendAll = () =>
      Promise.all(requests.map(async ([operation, request]) => [operation, (await sendValidRequest(mandate(), request)).body?.code]));
    const codes = await withFailingUserQueries(mandate().db, sqlState, sendAll);
    expect(codes).toEqual(requests.map(([operation]) => [operation, code]));
  });
}
