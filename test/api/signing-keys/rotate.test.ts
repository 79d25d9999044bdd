import { beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import type { JsonBody } from '../../support/server/start-mandate.ts';
import { withShop } from '../../support/shop/with-shop.ts';

const shop = withShop({ sampleData: false });
const admin = shop.admin(['signing_keys.manage', 'audit.read']);
let token: string;
beforeAll(() => {
  ({ token } = admin);
});

const rotate = (body: JsonBody, headers: Record<string, string> = {}) =>
  shop.callApi('POST', '/api/v1/signing-key-rotations', { token, body, headers });
const listKeyIds = async (): Promise<string[]> =>
  (await shop.db.em.fork().execute<{ kid: string }[]>('select kid from signing_keys order by kid')).map(({ kid }) => kid);
const auditedRotations = async (): Promise<JsonBody[]> =>
  (await shop.callApi('GET', '/api/v1/audit-events?action=signing_key.rotated', { token })).body.data;

test('POST /signing-key-rotations: publishes new keys once, which sign after an hour', async () => {
  const before = await listKeyIds();
  const [first, replay] = [await rotate({}, { 'idempotency-key': 'k1' }), await rotate({}, { 'idempotency-key': 'k1' })];
  expect([first.status, first.body.made, replay.text]).toEqual([201, 4, first.text]);
  const [minutesUntilSigning, minutesUntilRetirement] = [first.body.signs_from, first.body.previous_retire_at].map(
    (at: string) => (Date.parse(at) - Date.now()) / 60_000,
  );
  expect(Math.round(minutesUntilSigning ?? 0)).toBe(60);
  expect(Math.round(minutesUntilRetirement ?? 0)).toBe(180);
  expect(await listKeyIds()).toEqual(expect.arrayContaining(before));
  expect(await listKeyIds()).toHaveLength(before.length + 4);
  const again = await rotate({});
  expect(again.body).toEqual({ ...first.body, made: 0 });
});

test('with at_once, existing tokens are rejected, and new tokens are valid', async () => {
  const before = await listKeyIds();
  const rotated = await rotate({ at_once: true });
  expect([rotated.status, rotated.body.made]).toEqual([201, 4]);
  expect((await listKeyIds()).filter((kid) => before.includes(kid))).toEqual([]);
  const events = await shop.db.em
    .fork()
    .execute<JsonBody[]>(
      `select actor_id, client_id, details from audit_events where action = 'signing_key.rotated' order by id desc limit 1`,
    );
  expect(events[0]).toMatchObject({ actor_id: admin.id, client_id: 'mandate-cli', details: { when: 'at once', keys: expect.any(Array) } });

  expect((await shop.callApi('GET', '/api/v1/audit-events', { token })).status).toBe(401);
  const jwks = z.object({ keys: z.array(z.object({ kid: z.string() })) }).parse(await (await fetch(`${shop.origin}/oauth/jwks`)).json());
  expect(jwks.keys.map(({ kid }) => kid).toSorted()).toEqual(await listKeyIds());
  token = (await shop.createAccount('admin', ['signing_keys.manage', 'audit.read'])).token;
  expect((await auditedRotations()).map(({ details }: JsonBody) => details.when)).toEqual(['at once', 'asked', 'due']);
});
