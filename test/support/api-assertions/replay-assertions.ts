import { getRouteMetadata } from '@mandate/contract';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { declaredProblemCodes, acceptsIdempotencyKey, findRoute, sendValidRequest, type ValidRequest } from './provoke-problems.ts';
import { readAllRows } from '../services/database-dump.ts';
import type { ApiResponse, ApiServer, JsonBody } from '../server/start-mandate.ts';

/** POST operations that do not accept an `Idempotency-Key`, each with the reason. */
const withoutKey: Readonly<Record<string, string>> = {
  'providerEvents.receive': 'the event identifiers in the body deduplicate requests',
};

/** Changes that turn a valid request body into a different one, for every operation whose response contains a secret. */
const otherBodies: Readonly<Record<string, JsonBody>> = {
  'apiKeys.create': { name: 'Other' },
  'applications.create': { name: 'Other' },
  'applications.rotateSecret': { overlap_seconds: 60 },
  'applications.createRegistrationToken': { expires_in: 60 },
  'webhooks.create': { description: 'Other' },
  'webhooks.rotateSecret': { overlap_seconds: 60 },
};

/** The table of request counts, which server processes update periodically. A replay counts as a request. */
const countedRequests = ['usage_months'];

type ReplayTestOptions = {
  readonly mandate: () => ApiServer;
  /** Returns valid requests from different callers. */
  readonly validRequests: (operation: string) => Promise<ValidRequest[]>;
};

const secretFieldOf = (operation: string): string | undefined => getRouteMetadata(findRoute(operation)).secret;
const isReplayed = ({ headers }: ApiResponse): boolean => headers.get('idempotent-replayed') === 'true';
const withoutSecret = (operation: string, body: JsonBody): JsonBody => {
  const secret = secretFieldOf(operation);
  return secret === undefined ? body : { ...body, [secret]: null };
};

function findOneTimeFields(operation: string): string[] {
  const response = Object.entries(findRoute(operation).responses).find(([status]) => status.startsWith('2'))?.[1];
  const fields: Record<string, z.ZodTypeAny> = response instanceof z.ZodObject ? response.shape : {};
  return Object.keys(fields).filter((name) => fields[name]?.description?.includes('Only the first response contains the secret'));
}

/** Defines the idempotency tests for all POST operations. */
export function testIdempotentReplays(operations: readonly string[], { mandate, validRequests }: ReplayTestOptions): void {
  const postOperations = operations.filter((operation) => findRoute(operation).method === 'POST');
  const idempotentOperations = postOperations.filter((operation) => acceptsIdempotencyKey(findRoute(operation)));
  const idempotencyKeyHeader = (operation: string, prefix: string): { 'idempotency-key': string } => ({
    'idempotency-key': `${prefix}-${operation.replace(' ', '-')}`,
  });
  const firstRequest = async (operation: string): Promise<ValidRequest> => {
    const [request] = await validRequests(operation);
    if (!request) throw new Error(`${operation} has no request that succeeds`);
    return request;
  };

  test('every POST operation accepts an Idempotency-Key or is listed with a reason', () => {
    const tested = (names: readonly string[]): string[] => names.filter((name) => findRoute(name) && operations.includes(name));
    expect(postOperations.filter((operation) => !idempotentOperations.includes(operation))).toEqual(tested(Object.keys(withoutKey)));
    for (const operation of idempotentOperations)
      expect(declaredProblemCodes(findRoute(operation)), operation).toContain('idempotency_key_reused');
    expect(idempotentOperations.filter(secretFieldOf)).toEqual(expect.arrayContaining(tested(Object.keys(otherBodies))));
  });

  test('the contract marks exactly the fields that are null in a replayed response', () => {
    for (const operation of idempotentOperations) {
      const secret = secretFieldOf(operation);
      expect([operation, findOneTimeFields(operation)]).toEqual([operation, secret === undefined ? [] : [secret]]);
    }
  });

  describe.each(idempotentOperations)('%s', (operation) => {
    test('has one effect for two requests with the same key, and the second response is a replay without the secret', async () => {
      const request = await firstRequest(operation);
      const first = await sendValidRequest(mandate(), request, idempotencyKeyHeader(operation, 'twice'));
      expect([first.status, isReplayed(first)]).toEqual([expect.toSatisfy((status: number) => status < 300), false]);
      const rows = await readAllRows(mandate().db, countedRequests);
      const second = await sendValidRequest(mandate(), request, idempotencyKeyHeader(operation, 'twice'));
      expect([second.status, isReplayed(second)]).toEqual([first.status, true]);
      expect(second.body).toEqual(withoutSecret(operation, first.body));
      expect(second.headers.get('location')).toBe(first.headers.get('location'));
      expect(await readAllRows(mandate().db, countedRequests)).toEqual(rows);
      const secret = secretFieldOf(operation);
      const secrets: string[] = secret === undefined ? [] : [first.body[secret]];
      expect(secrets.filter((text) => rows.join('\n').includes(text))).toEqual([]);
    });

    test('has one effect for concurrent requests with the same key', async () => {
      const request = await firstRequest(operation);
      const responses = await Promise.all(
        Array.from({ length: 4 }, () => sendValidRequest(mandate(), request, idempotencyKeyHeader(operation, 'concurrent'))),
      );
      const succeeded = responses.filter(({ status }) => status < 300);
      const rejectedCodes = responses.filter((response) => !succeeded.includes(response)).map(({ body }) => body.code);
      const first = succeeded.filter((response) => !isReplayed(response));
      expect([first.length, new Set(rejectedCodes.filter((code) => code !== 'idempotency_in_progress'))]).toEqual([1, new Set()]);
      for (const { body } of succeeded) expect(withoutSecret(operation, body)).toEqual(withoutSecret(operation, first[0]?.body));
    });

    test('is executed separately for different callers with the same key', async () => {
      for (const request of await validRequests(operation)) {
        const response = await sendValidRequest(mandate(), request, idempotencyKeyHeader(operation, 'callers'));
        expect([response.status, isReplayed(response)]).toEqual([expect.toSatisfy((status: number) => status < 300), false]);
      }
    });

    test.runIf(secretFieldOf(operation))('rejects the same key with a different body', async () => {
      const request = await firstRequest(operation);
      const body = { ...Object(request.body), ...otherBodies[operation] };
      expect((await sendValidRequest(mandate(), request, idempotencyKeyHeader(operation, 'body'))).status).toBe(201);
      const other = await sendValidRequest(mandate(), { ...request, body }, idempotencyKeyHeader(operation, 'body'));
      expect([other.status, other.body.code]).toEqual([422, 'idempotency_key_reused']);
    });
  });
}
