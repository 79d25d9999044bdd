import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { startStubAuthorizationServer } from '../../sdk/authorization/stub-authorization-server.ts';
import { startStubServer } from '../../sdk/stub-server.ts';
import { createConfigDirectory, runInProcess } from '../run-command-line.ts';

const emptyPage = { body: { data: [], has_more: false, next_cursor: null } };

async function home(credentials: object = {}) {
  const directory = await createConfigDirectory();
  await writeFile(directory.file, JSON.stringify(credentials), { mode: 0o600 });
  const env = { MANDATE_CONFIG_DIR: directory.path };
  const run = (...argv: string[]) => runInProcess(argv, { env });
  return { ...directory, [Symbol.asyncDispose]: directory[Symbol.asyncDispose], env, run };
}

const credential = (apiUrl: string, changes: object = {}) => ({
  apiUrl,
  clientId: 'mandate-cli',
  accessToken: 'access-0',
  expiresAt: Date.now() + 3_600_000,
  refreshToken: 'refresh-0',
  scopes: ['orders.read'],
  user: { id: 7, name: 'Ann', email: 'ann@example.com' },
  ...changes,
});

describe('mandate config', () => {
  test('stores and returns the settings of a profile', async () => {
    await using at = await home();
    expect(await at.run('config', 'set', 'timeout', '5s')).toEqual({ exitCode: 0, stdout: '', stderr: '' });
    expect(await at.run('config', 'get', 'timeout')).toMatchObject({ exitCode: 0, stdout: '5s\n' });
    expect(await at.run('config', 'get', 'timeout', '--json')).toMatchObject({ stdout: '{"key":"timeout","value":"5s"}\n' });
    expect((await at.run('config', 'list')).stdout).toContain('timeout\t5s\t');
    expect(await at.run('config', 'get', 'timeout', '-p', 'work')).toMatchObject({ exitCode: 6, stdout: '' });
    expect((await at.run('config', 'unset', 'timeout')).exitCode).toBe(0);
    expect(await at.run('config', 'get', 'timeout')).toMatchObject({ exitCode: 6, stdout: '' });
    expect((await stat(join(at.path, 'config.json'))).mode & 0o777).toBe(0o600);
    expect((await readdir(at.path)).toSorted()).toEqual(['config.json', 'credentials.json']);
  });

  test.each([
    [['config', 'set', 'timeuot', '5s'], 'hint: Did you mean timeout?'],
    [['config', 'set', 'nonsense', '5s'], 'hint: Available keys: api_url'],
    [['config', 'set', 'timeout', 'soon'], 'Invalid value for timeout (timeout for each request, such as 30s): "soon"'],
    [['config', 'set', 'api_url', 'javascript:1'], 'Invalid value for api_url (URL of the service)'],
    [['config', 'set', 'constructor', 'x'], 'Unknown key: constructor'],
  ])('rejects %j', async (argv, reason) => {
    await using at = await home();
    expect(await at.run(...argv)).toMatchObject({ exitCode: 2, stdout: '', stderr: expect.stringContaining(reason) });
  });

  test('is overridden by the environment, and the environment by a flag', async () => {
    await using one = await startStubServer(() => emptyPage);
    await using two = await startStubServer(() => emptyPage);
    await using three = await startStubServer(() => emptyPage);
    await using at = await home();
    await at.run('config', 'set', 'api_url', one.url);
    await at.run('products', 'list');
    await runInProcess(['products', 'list'], { env: { ...at.env, MANDATE_API_URL: two.url } });
    await runInProcess(['products', 'list', '--api-url', three.url], { env: { ...at.env, MANDATE_API_URL: two.url } });
    expect([one, two, three].map(({ seen }) => seen.length)).toEqual([1, 1, 1]);
  });

  test('reports an invalid file with a hint; help, version, path and completion still work', async () => {
    await using at = await home();
    await writeFile(join(at.path, 'config.json'), '{"profiles": 1}');
    expect(await at.run('products', 'list')).toMatchObject({
      exitCode: 1,
      stdout: '',
      stderr: expect.stringContaining('is not a valid configuration file\nhint: '),
    });
    for (const argv of [['--version'], ['orders', '--help'], ['help', 'orders'], ['commands'], ['completion', 'bash']]) {
      expect((await at.run(...argv)).exitCode).toBe(0);
    }
    expect(await at.run('config', 'path')).toEqual({ exitCode: 0, stdout: `${join(at.path, 'config.json')}\n`, stderr: '' });
  });
});

describe('mandate profile', () => {
  test('creates, shows, activates and deletes profiles', async () => {
    await using server = await startStubServer(() => emptyPage);
    await using at = await home();
    expect((await at.run('profile', 'create', 'work', '--api-url', server.url)).exitCode).toBe(0);
    expect((await at.run('profile', 'create', 'work', '--api-url', server.url)).exitCode).toBe(2);
    expect((await at.run('profile', 'use', 'work')).exitCode).toBe(0);
    expect(JSON.parse((await at.run('profile', 'list', '--json')).stdout)).toEqual({
      data: [{ name: 'work', active: true, api_url: server.url, user: null, signed_in: false }],
    });
    expect(await at.run('profile', 'show', '--get', 'api_url')).toMatchObject({ stdout: `${server.url}\n` });
    await at.run('products', 'list');
    expect(server.seen).toHaveLength(1);
    expect(await at.run('profile', 'delete', 'work')).toMatchObject({ exitCode: 2, stdout: '' });
    expect((await at.run('profile', 'delete', 'work', '-y')).exitCode).toBe(0);
    expect(JSON.parse((await at.run('profile', 'list', '--json')).stdout)).toEqual({ data: [] });
  });

  test.each([
    [['profile', 'use', 'nowhere'], 'Unknown profile: nowhere'],
    [['profile', 'show', 'nowhere'], 'Unknown profile: nowhere'],
    [['profile', 'create', '../x', '--api-url', 'https://x.example'], 'Invalid profile name "../x"'],
    [['profile', 'create', 'x'], 'The URL of the service is required: --api-url <url>'],
    [['profile', 'create', 'x', '--api-url', 'http://x.example'], 'would send tokens unencrypted'],
  ])('rejects %j', async (argv, reason) => {
    await using at = await home();
    expect(await at.run(...argv)).toMatchObject({ exitCode: 2, stdout: '', stderr: expect.stringContaining(reason) });
  });

  test('signs out of a deleted profile and revokes its tokens', async () => {
    await using server = await startStubAuthorizationServer();
    await using at = await home({ work: credential(server.url), default: credential(server.url) });
    expect(await at.run('profile', 'delete', 'work', '-y')).toMatchObject({ exitCode: 0, stderr: expect.stringContaining('Signed out') });
    expect(server.seen.map(({ url }) => url)).toContain('/revoke');
    expect(Object.keys(JSON.parse(await readFile(at.file, 'utf8')))).toEqual(['default']);
  });
});

describe('mandate auth', () => {
  test('status lists every sign-in and the one in use, without tokens', async () => {
    await using at = await home({ default: credential('https://a.example'), work: credential('https://b.example') });
    const { stdout } = await at.run('auth', 'status', '--json');
    expect(stdout).not.toMatch(/access-0|refresh-0/);
    expect(JSON.parse(stdout).data).toMatchObject([
      { source: 'profile default', used: true, user: 'ann@example.com', scopes: 'orders.read', renewable: true, storage: at.file },
      { source: 'profile work', used: false, api_url: 'https://b.example' },
    ]);
    const withToken = await runInProcess(['auth', 'status', '--json'], { env: { ...at.env, MANDATE_TOKEN: 'hidden' } });
    expect(withToken.stdout).not.toContain('hidden');
    expect(JSON.parse(withToken.stdout).data.map(({ source, used }: { source: string; used: boolean }) => [source, used])).toEqual([
      ['MANDATE_TOKEN', true],
      ['profile default', false],
      ['profile work', false],
    ]);
    expect(await runInProcess(['auth', 'status'])).toMatchObject({
      exitCode: 0,
      stdout: '',
      stderr: expect.stringContaining('mandate login'),
    });
  });

  test('token prints only the token, renewed if it expires within --min-ttl', async () => {
    await using server = await startStubAuthorizationServer();
    await using at = await home({ default: credential(server.url) });
    expect(await at.run('auth', 'token')).toEqual({ exitCode: 0, stdout: 'access-0\n', stderr: '' });
    expect(server.grants).toEqual([]);
    expect((await at.run('auth', 'token', '--min-ttl', '2h')).stdout).toBe('access-1\n');
    expect(server.grants).toEqual(['refresh_token']);
    expect((await runInProcess(['auth', 'token'], { env: { ...at.env, MANDATE_TOKEN: 'mine' } })).stdout).toBe('mine\n');
    expect(await runInProcess(['auth', 'token'])).toMatchObject({ exitCode: 4, stdout: '' });
    const onTerminal = await runInProcess(['auth', 'token'], { env: at.env, columns: 80 });
    expect(onTerminal.stderr).toContain('Anyone who has this token');
  });

  test('scopes lists all scopes and whether they are granted', async () => {
    await using at = await home({ default: credential('http://localhost:3000') });
    const { data } = JSON.parse((await at.run('auth', 'scopes', '--json')).stdout);
    expect(data).toContainEqual({ scope: 'orders.read', granted: true, allows: 'See your orders' });
    expect(data).toContainEqual(expect.objectContaining({ scope: 'orders.write', granted: false }));
  });
});
