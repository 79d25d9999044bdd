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

type Prepared = {
  readonly mandate: () => Mandate;
  /** Those of the server. */
  readonly rateLimits: RateLimits;
  readonly validRequest: (operation: string) => Promise<Valid>;
  readonly spoilers: (operation: string) => Spoilers;
};

/** Failures that are the same everywhere, of every operation that declares them: what is particular to one is tested with it. */
export function failsAsDeclared(operations: readonly string[], { mandate, rateLimits, validRequest, spoilers }: Prepared): void {
  describe.each(operations)('%s fails as it declares', (operation) => {
    const route = routeNamed(operation);

    test('when the request is spoiled', async () => {
      const request = await validRequest(operation);
      const unseen: string[] = [];
      for (const code of codesOf(route).filter((declared) => isProvoked(declared, route))) {
        if (!(await provoke(mandate(), code, route, request, spoilers(operation)))) unseen.push(code);
      }
      expect(unseen).toEqual([]);
    });

    test('when there were too many requests', async ({ skip }) => {
      skip(inTwoProcesses, 'needs one process: changes the limits of a running server');
      const request = await validRequest(operation);
      const refusedWith = async (limits: Partial<RateLimits>): Promise<string> => {
        Object.assign(rateLimits, limits);
        try {
          return (await sendValid(mandate(), request)).body.code;
        } finally {
          Object.assign(rateLimits, generous);
        }
      };
      expect([await refusedWith({ default: 0 }), await refusedWith({ monthly: 0 })]).toEqual(['rate_limited', 'quota_exceeded']);
    });

    test.runIf('304' in route.responses)('not at all, but with 304, when the caller has it already', async () => {
      const request = await validRequest(operation);
      const etag = (await sendValid(mandate(), request)).headers.get('etag') ?? '';
      const again = await sendValid(mandate(), request, { 'if-none-match': etag });
      expect([again.status, again.headers.get('etag')]).toEqual([304, etag]);
    });

    test.runIf(isIdempotent(route))('when its key belongs to another request, or to one that is being carried out', async () => {
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
    // what a database says that is starting up
    ['unavailable', '57P03'],
    // what a database says whose disk is full
    ['insufficient_storage', '53100'],
  ])('every operation says %s when the database does not answer as it should', async (code, sqlState) => {
    const requests: [string, Valid][] = [];
    for (const operation of operations) requests.push([operation, await validRequest(operation)]);
    const sendAll = () =>
      Promise.all(requests.map(async ([operation, request]) => [operation, (await sendValid(mandate(), request)).body?.code]));
    const answered = await whileBroken(mandate().db, sqlState, sendAll);
    expect(answered).toEqual(requests.map(([operation]) => [operation, code]));
  });
}
