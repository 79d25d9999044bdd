import { getRouteMetadata } from '@mandate/contract';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { codesOf, isIdempotent, routeNamed, sendValid, type Valid } from './provoke-problems.ts';
import { rowsOf } from '../dump.ts';
import type { Answer, Body, Mandate } from '../server/start-mandate.ts';

/** POST operations that accept no `Idempotency-Key`, and why. */
const withoutKey: Readonly<Record<string, string>> = {
  'providerEvents.receive': 'the identifiers of the events in the body are its key',
};

/** Another valid body, for each operation with a secret in its response. */
const otherBodies: Readonly<Record<string, Body>> = {
  'apiKeys.create': { name: 'Other' },
  'applications.create': { name: 'Other' },
  'applications.rotateSecret': { overlap_seconds: 60 },
  'applications.createRegistrationToken': { expires_in: 60 },
  'webhooks.create': { description: 'Other' },
  'webhooks.rotateSecret': { overlap_seconds: 60 },
};

type Prepared = {
  readonly mandate: () => Mandate;
  /** Requests that succeed, each by another caller. */
  readonly validRequests: (operation: string) => Promise<Valid[]>;
};

const secretOf = (operation: string): string | undefined => getRouteMetadata(routeNamed(operation)).secret;
const isReplayed = ({ headers }: Answer): boolean => headers.get('idempotent-replayed') === 'true';
const withoutSecret = (operation: string, body: Body): Body => {
  const secret = secretOf(operation);
  return secret === undefined ? body : { ...body, [secret]: null };
};

function shownOnceIn(operation: string): string[] {
  const response = Object.entries(routeNamed(operation).responses).find(([status]) => status.startsWith('2'))?.[1];
  const fields: Record<string, z.ZodTypeAny> = response instanceof z.ZodObject ? response.shape : {};
  return Object.keys(fields).filter((name) => fields[name]?.description?.includes('Only the first response contains it'));
}

/** The same key has one effect, for every operation of the contract that creates or changes something with POST. */
export function replaysAsDeclared(operations: readonly string[], { mandate, validRequests }: Prepared): void {
  const posts = operations.filter((operation) => routeNamed(operation).method === 'POST');
  const keyed = posts.filter((operation) => isIdempotent(routeNamed(operation)));
  const keyOf = (operation: string, what: string): { 'idempotency-key': string } => ({
    'idempotency-key': `${what}-${operation.replace(' ', '-')}`,
  });
  const firstRequest = async (operation: string): Promise<Valid> => {
    const [request] = await validRequests(operation);
    if (!request) throw new Error(`${operation} has no request that succeeds`);
    return request;
  };

  test('every POST accepts an Idempotency-Key, or is on the list with a reason', () => {
    expect(posts.filter((operation) => !keyed.includes(operation))).toEqual(Object.keys(withoutKey));
    for (const operation of keyed) expect(codesOf(routeNamed(operation)), operation).toContain('idempotency_key_reused');
    expect(keyed.filter(secretOf)).toEqual(expect.arrayContaining(Object.keys(otherBodies)));
  });

  test('the contract marks exactly the fields that are null in a replay', () => {
    for (const operation of keyed) {
      const secret = secretOf(operation);
      expect([operation, shownOnceIn(operation)]).toEqual([operation, secret === undefined ? [] : [secret]]);
    }
  });

  describe.each(keyed)('%s', (operation) => {
    test('has one effect for the same key, and the second response is a replay without the secret', async () => {
      const request = await firstRequest(operation);
      const first = await sendValid(mandate(), request, keyOf(operation, 'twice'));
      expect([first.status, isReplayed(first)]).toEqual([expect.toSatisfy((status: number) => status < 300), false]);
      const rows = await rowsOf(mandate().db);
      const again = await sendValid(mandate(), request, keyOf(operation, 'twice'));
      expect([again.status, isReplayed(again)]).toEqual([first.status, true]);
      expect(again.body).toEqual(withoutSecret(operation, first.body));
      expect(again.headers.get('location')).toBe(first.headers.get('location'));
      expect(await rowsOf(mandate().db)).toEqual(rows);
      const secret = secretOf(operation);
      const secrets: string[] = secret === undefined ? [] : [first.body[secret]];
      expect(secrets.filter((text) => rows.join('\n').includes(text))).toEqual([]);
    });

    test('has one effect for concurrent requests with the same key', async () => {
      const request = await firstRequest(operation);
      const answers = await Promise.all(Array.from({ length: 4 }, () => sendValid(mandate(), request, keyOf(operation, 'concurrent'))));
      const carriedOut = answers.filter(({ status }) => status < 300);
      const refused = answers.filter((answer) => !carriedOut.includes(answer)).map(({ body }) => body.code);
      const first = carriedOut.filter((answer) => !isReplayed(answer));
      expect([first.length, new Set(refused.filter((code) => code !== 'idempotency_in_progress'))]).toEqual([1, new Set()]);
      for (const { body } of carriedOut) expect(withoutSecret(operation, body)).toEqual(withoutSecret(operation, first[0]?.body));
    });

    test('does not mix up two callers with the same key', async () => {
      for (const request of await validRequests(operation)) {
        const answer = await sendValid(mandate(), request, keyOf(operation, 'callers'));
        expect([answer.status, isReplayed(answer)]).toEqual([expect.toSatisfy((status: number) => status < 300), false]);
      }
    });

    test.runIf(secretOf(operation))('refuses the key with another body', async () => {
      const request = await firstRequest(operation);
      const body = { ...Object(request.body), ...otherBodies[operation] };
      expect((await sendValid(mandate(), request, keyOf(operation, 'body'))).status).toBe(201);
      const other = await sendValid(mandate(), { ...request, body }, keyOf(operation, 'body'));
      expect([other.status, other.body.code]).toEqual([422, 'idempotency_key_reused']);
    });
  });
}
