import { afterEach, expect, test } from 'vitest';
import type { Scope } from '@mandate/contract';
import { obtainTokens } from '../../support/oauth/oauth-flow.ts';
import { connectApplicationAndDecider, requestApprovalOf60 } from '../../support/shop/approval-requests.ts';
import { withShop } from '../../support/shop/with-shop.ts';
import { useEventJobs } from '../../support/webhooks/use-event-jobs.ts';
import { killProcesses, runInProcess, spawnCommand } from '../run-command-line.ts';

const shop = withShop();
useEventJobs(shop);
afterEach(killProcesses);

const scopes: readonly Scope[] = ['approvals.decide', 'orders.read', 'events.read'];

/** Connects an application that requests approvals, and signs the customer in on the command line. */
async function connect(granted: readonly Scope[] = scopes) {
  const { anna, app } = await connectApplicationAndDecider(shop);
  const { access_token: token } = await obtainTokens(shop.origin, anna, granted);
  const env = { MANDATE_API_URL: shop.origin, MANDATE_TOKEN: token };
  return {
    app,
    env,
    run: (...argv: string[]) => runInProcess(['approvals', ...argv], { env }),
    readStatus: async (id: number) => (await app.call('GET', `/approvals/${id}`)).body.status,
  };
}

test('approvals watch prints a new request and each decision, while the customer approves and declines', { timeout: 180_000 }, async () => {
  const { app, env, run, readStatus } = await connect();
  const { id: pendingId } = await requestApprovalOf60(app);
  const watch = spawnCommand(['approvals', 'watch'], { ...env, PATH: '' });
  let output = '';
  watch.child.stdout?.on('data', (text: Buffer | string) => (output += String(text)));
  const readLines = (): string[] => output.split('\n').map((line) => line.split(/ {2,}/).slice(1).join(' '));
  const expectLine = (id: number, status: string) =>
    expect.poll(readLines, { timeout: 60_000 }).toContain(`${id} ${status} €60.00 Test application`);
  await expectLine(pendingId, 'pending');

  const { id: newId } = await requestApprovalOf60(app);
  await expectLine(newId, 'pending');
  expect((await run('approve', String(newId), '--yes')).exitCode).toBe(0);
  await expectLine(newId, 'approved');
  expect((await run('decline', String(pendingId))).exitCode).toBe(0);
  await expectLine(pendingId, 'declined');
  expect([await readStatus(newId), await readStatus(pendingId)]).toEqual(['approved', 'declined']);
  expect(readLines().filter((line) => line !== '')).toHaveLength(4);

  watch.child.kill('SIGINT');
  expect(await watch.exited).toMatchObject({ stderr: '' });
});

test.each([
  ['approve', ['--yes']],
  ['decline', []],
])('approvals %s without the scope approvals.decide states how to request it', async (command, flags) => {
  const { app, run, readStatus } = await connect(['orders.read', 'events.read']);
  const { id } = await requestApprovalOf60(app);
  const { exitCode, stderr } = await run(command, String(id), ...flags);
  expect(exitCode).not.toBe(0);
  expect(stderr).toContain('Request the scope with: mandate login --scopes +approvals.decide');
  expect(await readStatus(id)).toBe('pending');
});
