import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createSquarePng } from '../../support/browser/square-png.ts';
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

test('an administrator sets and deletes the logo of a provider', async () => {
  const flags = [
    '--slug',
    'shop-id',
    '--preset',
    'oidc',
    '--issuer',
    'https://id.example.com',
    '--client-id',
    'shop',
    '--client-secret',
    's',
  ];
  const { id } = JSON.parse((await run('create', ...flags, '--json')).stdout);
  const directory = await mkdtemp(join(tmpdir(), 'mandate-logo-'));
  const [png, svg] = [join(directory, 'logo.png'), join(directory, 'logo.svg')];
  await writeFile(png, createSquarePng(64));
  const set = await run('set-logo', String(id), png, '--json');
  expect([set.stderr, JSON.parse(set.stdout)]).toMatchObject(['', { id, logo: { media_type: 'image/png', width: 64 } }]);
  expect((await run('set-logo', String(id), svg)).stderr).toContain('must be a .png, .jpg, .jpeg or .webp file. Convert the image first');
  expect((await run('set-logo', 'x', png)).stderr).toContain('<identity-provider-id>');
  expect((await run('set-logo', png)).stderr).toContain('file');
  expect((await run('delete-logo', String(id), '--yes')).exitCode).toBe(0);
  expect(JSON.parse((await run('get', String(id), '--json')).stdout).logo).toBeNull();
  await rm(directory, { recursive: true });
});

test('a rejected field names the flag', async () => {
  const { stderr, exitCode } = await run('create', '--slug', 'company', '--preset', 'oidc', '--client-id', 'shop', '--client-secret', 's');
  expect([stderr.includes('issuer'), exitCode === 0]).toEqual([true, false]);
});
