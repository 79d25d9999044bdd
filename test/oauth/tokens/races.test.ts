import type { AdapterFactory } from 'oidc-provider';
import { describe, expect, test } from 'vitest';
import type { EntityManager } from '../../../server/database/entity-manager/entity-manager.ts';
import { createPostgresAdapterFactory } from '../../../server/oauth/provider/postgres-adapter.ts';
import { useServer } from '../../support/server/with-server.ts';
import { databaseKind } from '../../support/services/database.ts';
import { signUp } from '../../support/oauth/oauth-flow.ts';
import { atOnce, raceForACode, raceForAConsent, raceForARefresh, raceForASuccessor, rounds } from '../../support/oauth/race.ts';

// PGlite has one connection: what it does one after the other anyway, proves nothing.
describe.skipIf(databaseKind === 'pglite')('twenty requests at once', () => {
  const server = useServer({ refreshGraceSeconds: 0 });
  const withGrace = useServer();

  test('with one refresh token within the grace period: all get one successor, whose use makes the old token reuse (56)', async () => {
    const person = await signUp(withGrace.origin);
    for (let round = 0; round < rounds; round += 1) {
      const { answers, successors, afterwards } = await raceForASuccessor(withGrace, person);
      expect(answers).toEqual([expect.stringMatching(/^200 /)]);
      expect(successors).toEqual({ received: 1, stored: 1 });
      expect(afterwards).toEqual([200, 400, 400]);
    }
    expect(withGrace.failures).toEqual([]);
  });

  test.each([
    ['one code (35)', raceForACode],
    ['one refresh token without a grace period (56)', raceForARefresh],
  ])('with %s: one wins, the others are refused, and the tokens of the winner are dead (36, 55)', async (_what, raceFor) => {
    const person = await signUp(server.origin);
    for (let round = 0; round < rounds; round += 1) {
      const { winners, refusals, alive } = await raceFor(server, person);
      expect(winners).toHaveLength(1);
      expect(refusals).toEqual(Array.from({ length: atOnce - 1 }, () => '400 invalid_grant'));
      expect(alive).toBe(0);
    }
    expect(server.failures).toEqual([]);
  });

  test('with one consent: one code (33)', async () => {
    const person = await signUp(server.origin);
    for (let round = 0; round < rounds; round += 1) expect(await raceForAConsent(server, person)).toHaveLength(1);
    expect(server.failures).toEqual([]);
  });
});

describe.skipIf(databaseKind === 'pglite')('the same with a store that reads, and later writes', () => {
  const server = useServer({ store: naiveStore });

  test.each([
    ['code', raceForACode],
    ['refresh token', raceForARefresh],
  ])('lets several have one %s, so the tests above would notice', async (_what, raceFor) => {
    const person = await signUp(server.origin);
    let winners = 0;
    for (let round = 0; round < rounds; round += 1) winners += (await raceFor(server, person)).winners.length;
    expect(winners).toBeGreaterThan(rounds);
  });

  test('lets several successors of one refresh token come about, so the test above would notice', async () => {
    const person = await signUp(server.origin);
    let successors = 0;
    for (let round = 0; round < rounds; round += 1) successors += (await raceForASuccessor(server, person)).successors.received;
    expect(successors).toBeGreaterThan(rounds);
  });

  test('lets several codes come of one consent', async () => {
    const person = await signUp(server.origin);
    const codes: string[] = [];
    for (let round = 0; round < rounds; round += 1) codes.push(...(await raceForAConsent(server, person)));
    expect(codes.length).toBeGreaterThan(rounds);
  });
});

/** What everybody writes first: nothing is locked between looking a record up and marking it as used. */
function naiveStore(em: EntityManager): AdapterFactory {
  return createPostgresAdapterFactory({ getKysely: em.getKysely.bind(em), isInTransaction: () => false });
}
