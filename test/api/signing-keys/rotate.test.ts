import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { startMandate, type Body, type Mandate } from '../../support/server/start-mandate.ts';
import { signUpAs, tokensFor } from '../../support/oauth/oauth-flow.ts';

let mandate: Mandate;
let token: string;
let bossId: number;
beforeAll(async () => {
  mandate = await startMandate();
  const boss = await signUpAs(mandate.db, mandate.origin, 'admin');
  bossId = boss.id;
  token = (await tokensFor(mandate.origin, boss, ['signing_keys.manage', 'audit.read'])).access_token;
});
afterAll(() => mandate.close());

const rotate = (body: Body, headers: Record<string, string> = {}) =>
  mandate.call('POST', '/api/v1/signing-key-rotations', { token, body, headers });
const kids = async (): Promise<string[]> =>
  (await mandate.db.em.fork().execute<{ kid: string }[]>('select kid from signing_keys order by kid')).map(({ kid }) => kid);
const written = async (): Promise<Body[]> =>
  (await mandate.call('GET', '/api/v1/audit-events?action=signing_key.rotated', { token })).body.data;

test('POST /signing-key-rotations: the next keys are published, once, and sign in an hour', async () => {
  const before = await kids();
  const [first, twin] = [await rotate({}, { 'idempotency-key': 'k1' }), await rotate({}, { 'idempotency-key': 'k1' })];
  expect([first.status, first.body.made, twin.text]).toEqual([201, 2, first.text]);
  const [signsIn, goIn] = [first.body.signs_from, first.body.previous_retire_at].map(
    (at: string) => (Date.parse(at) - Date.now()) / 60_000,
  );
  expect(Math.round(signsIn ?? 0)).toBe(60);
  expect(Math.round(goIn ?? 0)).toBe(180);
  expect(await kids()).toEqual(expect.arrayContaining(before));
  expect(await kids()).toHaveLength(before.length + 2);
  const again = await rotate({});
  expect(again.body).toEqual({ ...first.body, made: 0 });
});

test('with at_once everything signed before is refused, and new tokens are good', async () => {
  const before = await kids();
  const rotated = await rotate({ at_once: true });
  expect([rotated.status, rotated.body.made]).toEqual([201, 2]);
  expect((await kids()).filter((kid) => before.includes(kid))).toEqual([]);
  const events = await mandate.db.em
    .fork()
    .execute<Body[]>(`select actor_id, client_id, details from audit_events where action = 'signing_key.rotated' order by id desc limit 1`);
  expect(events[0]).toMatchObject({ actor_id: bossId, client_id: 'mandate-cli', details: { when: 'at once', keys: expect.any(Array) } });

  expect((await mandate.call('GET', '/api/v1/audit-events', { token })).status).toBe(401);
  const jwks = z.object({ keys: z.array(z.object({ kid: z.string() })) }).parse(await (await fetch(`${mandate.origin}/oauth/jwks`)).json());
  expect(jwks.keys.map(({ kid }) => kid).toSorted()).toEqual(await kids());
  token = (await tokensFor(mandate.origin, await signUpAs(mandate.db, mandate.origin, 'admin'), ['signing_keys.manage', 'audit.read']))
    .access_token;
  expect((await written()).map(({ details }: Body) => details.when)).toEqual(['at once', 'asked', 'due']);
});
