import { readdir, readFile, stat, utimes, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, expect, test, vi } from 'vitest';
import { createCredentialStore } from '../../../cli/sign-in/credential-store.ts';
import { startStubAuthorizationServer } from '../../sdk/authorization/stub-authorization-server.ts';
import { startStubServer } from '../../sdk/stub-server.ts';
import { createConfigDirectory, runInProcess, runProcess } from '../run-command-line.ts';

const credential = (apiUrl: string, changes: object = {}) => ({
  apiUrl,
  clientId: 'mandate-cli',
  accessToken: 'old',
  expiresAt: 0,
  refreshToken: 'refresh-0',
  scopes: ['orders.read'],
  ...changes,
});

/** Creates a configuration directory with a credential whose access token has expired. */
async function createExpiredSignIn(apiUrl: string, changes: object = {}) {
  const directory = await createConfigDirectory();
  await writeFile(directory.file, JSON.stringify({ default: credential(apiUrl, changes) }), { mode: 0o600 });
  const read = async (): Promise<Record<string, { accessToken: string; refreshToken?: string }>> =>
    JSON.parse(await readFile(directory.file, 'utf8'));
  return {
    ...directory,
    [Symbol.asyncDispose]: directory[Symbol.asyncDispose],
    env: { MANDATE_API_URL: apiUrl, MANDATE_CONFIG_DIR: directory.path },
    read,
  };
}

describe('eight concurrent commands with an expired token', () => {
  test('all succeed with a single refresh, and so does the next command', async () => {
    let refreshes = 0;
    let directory = '';
    /** Delays the token response until three processes wait for the lock, or until two processes refresh at the same time. */
    const hold = async (): Promise<void> => {
      refreshes += 1;
      const waiting = async () => (await readdir(directory)).filter((name) => /\.lock\.[\da-f-]{36}$/.test(name));
      await vi.waitFor(async () => expect(refreshes > 1 || (await waiting()).length >= 3).toBe(true), { timeout: 12_000, interval: 20 });
    };
    await using server = await startStubAuthorizationServer({ hold });
    await using home = await createExpiredSignIn(server.url);
    directory = home.path;
    const outcomes = await Promise.all(Array.from({ length: 8 }, () => runProcess(['orders', 'get', '1', '--json'], home.env)));
    expect(outcomes.map(({ exitCode, stdout }) => ({ exitCode, stdout }))).toEqual(
      Array.from({ length: 8 }, () => ({ exitCode: 0, stdout: '{"id":1}\n' })),
    );
    expect(server.grants).toEqual(['refresh_token']);
    expect((await runProcess(['orders', 'get', '1'], home.env)).exitCode).toBe(0);
    expect(await readdir(home.path)).toEqual(['credentials.json']);
  }, 60_000);
});

describe('the lock of the credential file', () => {
  test('is taken over immediately if its owner was killed', async () => {
    await using server = await startStubAuthorizationServer();
    await using home = await createExpiredSignIn(server.url);
    const owner = spawn(
      process.execPath,
      [
        '-e',
        `import(${JSON.stringify(join(import.meta.dirname, '../../../cli/files/file-lock.ts'))}).then(({ withFileLock }) => withFileLock(${JSON.stringify(`${home.file}.lock`)}, () => { console.log('held'); return new Promise(() => setInterval(() => {}, 1000)); }))`,
      ],
      { stdio: ['ignore', 'pipe', 'inherit'] },
    );
    await once(owner.stdout, 'data');
    owner.kill('SIGKILL');
    await once(owner, 'exit');
    expect(await readdir(home.path)).toContain('credentials.json.lock');
    const startedAt = performance.now();
    const outcomes = await Promise.all(Array.from({ length: 4 }, () => runProcess(['orders', 'get', '1'], home.env)));
    expect(outcomes.map(({ exitCode }) => exitCode)).toEqual([0, 0, 0, 0]);
    expect(performance.now() - startedAt).toBeLessThan(10_000);
    expect(server.grants).toEqual(['refresh_token']);
    expect(await readdir(home.path)).toEqual(['credentials.json']);
  }, 60_000);

  test('of another machine is respected until its heartbeat stops', async () => {
    await using server = await startStubAuthorizationServer();
    await using home = await createExpiredSignIn(server.url);
    const lock = `${home.file}.lock`;
    await writeFile(lock, JSON.stringify({ pid: 1, host: `not-${hostname()}`, id: 'elsewhere' }));
    const command = runInProcess(['orders', 'get', '1'], { env: home.env });
    await sleep(500);
    expect(server.grants).toEqual([]);
    await utimes(lock, new Date(0), new Date(0));
    expect((await command).exitCode).toBe(0);
  });
});

describe('the stored credential', () => {
  test('is readable only by its owner, regardless of the umask', async () => {
    await using directory = await createConfigDirectory();
    const inner = join(directory.path, 'inner');
    const before = process.umask(0);
    try {
      const store = createCredentialStore(inner);
      await store.exclusively(() => store.write('default', credential('http://localhost:3000')));
    } finally {
      process.umask(before);
    }
    expect((await stat(join(inner, 'credentials.json'))).mode & 0o777).toBe(0o600);
    expect((await stat(inner)).mode & 0o777).toBe(0o700);
    expect(await readdir(inner)).toEqual(['credentials.json']);
  });

  test('is not sent to another origin', async () => {
    await using server = await startStubAuthorizationServer();
    await using other = await startStubServer(() => ({ body: { data: [], has_more: false, next_cursor: null } }));
    await using home = await createExpiredSignIn(server.url, { expiresAt: Date.now() + 600_000 });
    const env = { ...home.env, MANDATE_API_URL: other.url };
    expect((await runInProcess(['orders', 'list'], { env })).exitCode).toBe(4);
    expect((await runInProcess(['products', 'list'], { env })).exitCode).toBe(0);
    expect(other.seen.map(({ headers }) => headers.authorization)).toEqual([undefined]);
  });

  test('with missing scopes does not start a command that would fail later', async () => {
    await using server = await startStubServer(() => ({ body: {} }));
    await using home = await createExpiredSignIn(server.url, { expiresAt: Date.now() + 600_000 });
    const { exitCode, stderr } = await runInProcess(['orders', 'export'], { env: home.env });
    expect(exitCode).toBe(5);
    expect(stderr).toContain('hint: Request them with: mandate login --scopes +tasks.read,+tasks.write\n');
    expect(server.seen).toEqual([]);
  });

  test('is overridden by MANDATE_TOKEN, which is neither stored nor renewed', async () => {
    await using server = await startStubServer(() => ({
      status: 401,
      body: { code: 'expired_token', title: 'no', status: 401, detail: 'no' },
    }));
    await using home = await createExpiredSignIn(server.url, { expiresAt: Date.now() + 600_000 });
    const before = await home.read();
    expect((await runInProcess(['orders', 'list'], { env: { ...home.env, MANDATE_TOKEN: 'mine' } })).exitCode).toBe(4);
    expect(server.seen.map(({ headers }) => headers.authorization)).toEqual(['Bearer mine']);
    expect(await home.read()).toEqual(before);
  });

  test('contains the URL of the service', async () => {
    await using server = await startStubAuthorizationServer();
    await using home = await createExpiredSignIn(server.url);
    const { MANDATE_API_URL: _, ...env } = home.env;
    expect((await runInProcess(['orders', 'get', '1'], { env })).exitCode).toBe(0);
  });

  test('is used only for its own profile', async () => {
    await using server = await startStubAuthorizationServer();
    await using home = await createExpiredSignIn(server.url);
    expect((await runInProcess(['orders', 'get', '1', '--profile', 'work'], { env: home.env })).exitCode).toBe(4);
    expect((await runInProcess(['orders', 'get', '1'], { env: { ...home.env, MANDATE_PROFILE: 'work' } })).exitCode).toBe(4);
    expect((await runInProcess(['orders', 'get', '1'], { env: home.env })).exitCode).toBe(0);
  });

  test('is reported with a hint if it is invalid, and --version still works', async () => {
    await using directory = await createConfigDirectory();
    await writeFile(directory.file, '{"default": {');
    const env = { MANDATE_CONFIG_DIR: directory.path };
    expect(await runInProcess(['orders', 'list'], { env })).toMatchObject({
      exitCode: 1,
      stdout: '',
      stderr: expect.stringContaining('is not a valid credential file'),
    });
    expect((await runInProcess(['--version'], { env })).exitCode).toBe(0);
  });
});

describe('a revoked grant', () => {
  test('asks the user to sign in again and deletes only the refresh token', async () => {
    await using server = await startStubAuthorizationServer();
    await using home = await createExpiredSignIn(server.url, { refreshToken: 'revoked' });
    const { exitCode, stderr } = await runInProcess(['orders', 'get', '1'], { env: home.env });
    expect(exitCode).toBe(4);
    expect(stderr).toContain('hint: Sign in with: mandate login');
    const { default: kept } = await home.read();
    expect(kept).toMatchObject({ accessToken: 'old' });
    expect(kept).not.toHaveProperty('refreshToken');
  });
});

describe('signing out', () => {
  test('revokes the tokens and deletes them', async () => {
    await using server = await startStubAuthorizationServer();
    await using home = await createExpiredSignIn(server.url);
    expect(await runInProcess(['logout'], { env: home.env })).toEqual({
      exitCode: 0,
      stdout: '',
      stderr: 'Signed out (profile default).\n',
    });
    expect(new URLSearchParams(server.seen.find(({ url }) => url === '/revoke')?.body).get('token')).toBe('refresh-0');
    expect(await home.read()).toEqual({});
    expect(await runInProcess(['logout'], { env: home.env })).toMatchObject({ exitCode: 0, stderr: 'You were not signed in.\n' });
  });

  test('deletes the tokens even if the service cannot be reached, and reports it', async () => {
    await using home = await createExpiredSignIn('http://127.0.0.1:9');
    expect(await runInProcess(['logout'], { env: home.env })).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining('could not be revoked'),
    });
    expect(await home.read()).toEqual({});
  });
});
