import type { AdapterFactory } from 'oidc-provider';
import { describe, expect, test } from 'vitest';
import type { EntityManager } from '../../../server/database/entity-manager/entity-manager-type.ts';
import { createPostgresAdapterFactory } from '../../../server/oauth/provider/postgres-adapter.ts';
import { useServer } from '../../support/server/use-server.ts';
import { databaseKind } from '../../support/services/database.ts';
import { signUp } from '../../support/oauth/oauth-flow.ts';
import {
  concurrentRequests,
  raceCodeRedemption,
  raceConsentForm,
  raceTokenRefresh,
  raceSuccessorTokens,
  raceRounds,
} from '../../support/oauth/concurrent-token-requests.ts';

// PGlite has only one connection, so transactions never run concurrently.
describe.skipIf(databaseKind === 'pglite')('twenty concurrent requests', () => {
  const server = useServer({ refreshGraceSeconds: 0 });
  const serverWithGrace = useServer();

  test('with one refresh token within the grace period get the same successor; after it is used, the old token counts as reuse (56)', async () => {
    const person = await signUp(serverWithGrace.origin);
    for (let round = 0; round < raceRounds; round += 1) {
      const { responses: answers, successors, laterStatuses: afterwards } = await raceSuccessorTokens(serverWithGrace, person);
      expect(answers).toEqual([expect.stringMatching(/^200 /)]);
      expect(successors).toEqual({ received: 1, stored: 1 });
      expect(afterwards).toEqual([200, 400, 400]);
    }
    expect(serverWithGrace.warnings).toEqual([]);
  });

  test.each([
    ['one code (35)', raceCodeRedemption],
    ['one refresh token without a grace period (56)', raceTokenRefresh],
  ])('with %s: one succeeds, the others are rejected, and the issued tokens are revoked (36, 55)', async (_kind, raceFor) => {
    const person = await signUp(server.origin);
    for (let round = 0; round < raceRounds; round += 1) {
      const { tokenResponses: winners, errors: refusals, validTokenCount: alive } = await raceFor(server, person);
      expect(winners).toHaveLength(1);
      expect(refusals).toEqual(Array.from({ length: concurrentRequests - 1 }, () => '400 invalid_grant'));
      expect(alive).toBe(0);
    }
    expect(server.warnings).toEqual([]);
  });

  test('with one consent return one code (33)', async () => {
    const person = await signUp(server.origin);
    for (let round = 0; round < raceRounds; round += 1) expect(await raceConsentForm(server, person)).toHaveLength(1);
    expect(server.warnings).toEqual([]);
  });
});

describe.skipIf(databaseKind === 'pglite')('a token store without locks', () => {
  const server = useServer({ store: createStoreWithoutLocks });

  test.each([
    ['code', raceCodeRedemption],
    ['refresh token', raceTokenRefresh],
  ])('accepts one %s several times, so the tests above detect missing locks', async (_kind, raceFor) => {
    const person = await signUp(server.origin);
    let winners = 0;
    for (let round = 0; round < raceRounds; round += 1) winners += (await raceFor(server, person)).tokenResponses.length;
    expect(winners).toBeGreaterThan(raceRounds);
  });

  test('issues several successors of one refresh token, so the test above detects missing locks', async () => {
    const person = await signUp(server.origin);
    let successors = 0;
    for (let round = 0; round < raceRounds; round += 1) successors += (await raceSuccessorTokens(server, person)).successors.received;
    expect(successors).toBeGreaterThan(raceRounds);
  });

  test('issues several codes for one consent, so the test above detects missing locks', async () => {
    const person = await signUp(server.origin);
    const codes: string[] = [];
    for (let round = 0; round < raceRounds; round += 1) codes.push(...(await raceConsentForm(server, person)));
    expect(codes.length).toBeGreaterThan(raceRounds);
  });
});

/** Creates a store that does not lock records between reading them and marking them as consumed. */
function createStoreWithoutLocks(em: EntityManager): AdapterFactory {
  return createPostgresAdapterFactory({
    getKysely: em.getKysely.bind(em),
    createQueryBuilder: em.createQueryBuilder.bind(em),
    findOne: em.findOne.bind(em),
    nativeDelete: em.nativeDelete.bind(em),
    isInTransaction: () => false,
  });
}
