import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Stripe } from 'stripe';
import { afterEach, expect, test } from 'vitest';
import { createDatabaseEnvironment } from '../../support/services/database.ts';
import { killServerProcesses, startServerProcess, createDataDirectory } from '../../support/server/server-process.ts';

afterEach(killServerProcesses);

const [before, after] = ['whsec_before_it_changed', 'whsec_after_it_changed'];

/** Sends a Stripe event that is signed with the secret, and returns the response status. */
async function report(url: string, secret: string): Promise<number> {
  const payload = JSON.stringify({
    id: `evt_${crypto.randomUUID()}`,
    object: 'event',
    type: 'ping',
    data: { object: { object: 'balance' } },
  });
  const signature = new Stripe('sk_test_1').webhooks.generateTestHeaderString({ payload, secret });
  const headers = { 'content-type': 'application/json', 'stripe-signature': signature };
  return (await fetch(`${url}/api/v1/provider-events/stripe`, { method: 'POST', headers, body: payload })).status;
}

test('SIGHUP reloads the Stripe secrets, and an invalid file changes nothing', { timeout: 240_000 }, async () => {
  await using data = await createDataDirectory();
  const file = join(data.path, 'webhook-secret');
  await writeFile(file, before);
  const server = await startServerProcess({
    MANDATE_DATA_DIR: data.path,
    ...(await createDatabaseEnvironment()),
    STRIPE_SECRET_KEY: 'sk_test_1',
    STRIPE_WEBHOOK_SECRET_FILE: file,
  });
  expect([await report(server.url, before), await report(server.url, after)]).toEqual([200, 400]);

  await writeFile(file, 'hunter2');
  process.kill(server.pid, 'SIGHUP');
  await expect.poll(() => server.output(), { timeout: 30_000 }).toContain('secrets were not reloaded');
  expect(await report(server.url, before)).toBe(200);

  await writeFile(file, after);
  process.kill(server.pid, 'SIGHUP');
  await expect.poll(() => report(server.url, after), { timeout: 30_000 }).toBe(200);
  expect(await report(server.url, before)).toBe(400);
  expect(server.output()).not.toMatch(/hunter2|whsec/);
  expect(await server.stop()).toBe(0);
});
