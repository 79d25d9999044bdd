import { expect, test } from 'vitest';
import { withShop } from '../../support/shop/with-shop.ts';
import { runInProcess, type CommandOutcome } from '../run-command-line.ts';

const shop = withShop();
const admin = shop.admin(['identity_providers.manage']);

const run = (...argv: string[]): Promise<CommandOutcome> =>
  runInProcess(['identity-providers', ...argv], { env: { MANDATE_API_URL: shop.origin, MANDATE_TOKEN: admin.token } });

test('an administrator adds, lists, disables and deletes a provider; the secret is not shown', async () => {
  const flags = ['--slug', 'google', '--preset', 'google', '--client-id', 'shop', '--client-secret', 'secret-on-command-line'];
  const created = await run('create', ...flags, '--creates-accounts', 'true', '--json');
  expect([created.stderr, created.exitCode]).toEqual(['', 0]);
  const { id, redirect_uri: redirectUri, creates_accounts: createsAccounts } = JSON.parse(created.stdout);
  expect([redirectUri, createsAccounts]).toEqual([`${shop.origin}/sign-in/providers/google/callback`, true]);
  const list = await run('list');
  expect(list.stdout).toContain('https://accounts.google.com');
  expect(JSON.parse((await run('update', String(id), '--status', 'disabled', '--json')).stdout).status).toBe('disabled');
  expect((await run('delete', String(id), '--yes')).exitCode).toBe(0);
  expect((await run('list', '--json')).stdout).not.toContain('google');
  expect(created.stdout + list.stdout).not.toContain('secret-on-command-line');
});

test('a rejected field names the flag', async () => {
  const { stderr, exitCode } = await run('create', '--slug', 'company', '--preset', 'oidc', '--client-id', 'shop', '--client-secret', 's');
  expect([stderr.includes('issuer'), exitCode === 0]).toEqual([true, false]);
});
