import { readFile, writeFile } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import type { SystemKeyring } from '../../../cli/environment/system-keyring.ts';
import { approveDevice } from '../../support/oauth/device-flow.ts';
import { signUp, obtainTokens } from '../../support/oauth/oauth-flow.ts';
import { useServer } from '../../support/server/use-server.ts';
import { createProblemResponse, startStubServer, type StubResponse } from '../../sdk/stub-server.ts';
import { startStubAuthorizationServer } from '../../sdk/authorization/stub-authorization-server.ts';
import { createConfigDirectory, killProcesses, runInProcess, spawnCommand } from '../run-command-line.ts';

const server = useServer();

/** Creates an in-memory keyring. */
function keyring(): { readonly kept: Map<string, string>; readonly open: () => Promise<SystemKeyring> } {
  const kept = new Map<string, string>();
  const open = async (): Promise<SystemKeyring> => ({
    get: async (account) => kept.get(account),
    set: async (account, secret) => void kept.set(account, secret),
    remove: async (account) => void kept.delete(account),
  });
  return { kept, open };
}

/** Writes a credential with an expired access token, and with a refresh token in the keyring. */
async function writeExpiredCredential(file: string, apiUrl: string): Promise<void> {
  const credential = { apiUrl, clientId: 'mandate-cli', accessToken: 'old', expiresAt: 0, storage: 'keyring', scopes: ['orders.read'] };
  await writeFile(file, JSON.stringify({ default: credential }), { mode: 0o600 });
}

type TokenServerOptions = { readonly interval?: number; readonly link?: string; readonly answers: readonly StubResponse[] };
const oauthError = (error: string): StubResponse => ({ status: 400, body: { error }, headers: { 'content-type': 'application/json' } });
const tokens: StubResponse = {
  body: { access_token: 'access-1', refresh_token: 'refresh-1', token_type: 'Bearer', expires_in: 600, scope: 'orders.read' },
};

/** Starts an authorization server whose token endpoint returns the given responses in turn. */
const startTokenServer = ({ interval = 0.05, link = '/device?user_code=AB-CD', answers }: TokenServerOptions) => {
  let requests = 0;
  return startStubServer(({ url, headers }) => {
    const base = `http://${headers.host}`;
    if (url.startsWith('/.well-known/'))
      return { body: { issuer: base, token_endpoint: `${base}/token`, device_authorization_endpoint: `${base}/begin` } };
    const complete = link.startsWith('/') ? base + link : link;
    if (url === '/begin') {
      const addresses = { verification_uri: `${base}/device`, verification_uri_complete: complete };
      return { body: { device_code: 'secret-device-code', user_code: 'AB-CD', ...addresses, expires_in: 60, interval } };
    }
    requests += 1;
    return answers[Math.min(requests, answers.length) - 1] ?? tokens;
  });
};

describe('signing in with a device code', () => {
  test('waits until the user confirms in another browser', async () => {
    await using home = await createConfigDirectory();
    const person = await signUp(server.origin);
    const env = { MANDATE_API_URL: server.origin, MANDATE_CONFIG_DIR: home.path };
    const command = spawnCommand(['login', '--device', '--json', '--storage', 'file'], env);
    try {
      const code = await new Promise<string>((resolve) => {
        command.child.stdout?.on('data', (text: Buffer | string) => {
          const found = /"user_code":"([^"]+)"/.exec(String(text))?.[1];
          if (found !== undefined) resolve(found);
        });
      });
      expect((await approveDevice(person, code)).response.status).toBe(200);
      const { exitCode, stdout, stderr } = await command.exited;
      const [shown, result, ...rest] = stdout.split('\n');
      expect({ exitCode, rest }).toEqual({ exitCode: 0, rest: [''] });
      expect(JSON.parse(shown ?? '')).toMatchObject({ verification_uri: `${server.origin}/oauth/device`, user_code: code });
      expect(JSON.parse(result ?? '')).toMatchObject({ profile: 'default', user: { email: person.email } });
      expect(stderr).toContain(`Signed in as ${person.email}`);
      expect((await runInProcess(['whoami', '--get', 'email'], { env })).stdout).toBe(`${person.email}\n`);
    } finally {
      killProcesses();
    }
  }, 60_000);

  test('continues polling while the authorization is pending and after connection errors', async () => {
    await using slow = await startTokenServer({
      answers: [oauthError('authorization_pending'), { cut: 'before' }, oauthError('authorization_pending'), tokens],
    });
    await using home = await createConfigDirectory();
    const env = { MANDATE_API_URL: slow.url, MANDATE_CONFIG_DIR: home.path };
    const { exitCode, stderr } = await runInProcess(['login', '--device', '--scopes', 'orders.read'], { env });
    expect({ exitCode, stderr }).toMatchObject({ exitCode: 0, stderr: expect.stringContaining('and enter this code: AB-CD') });
    expect(stderr).toContain(`${slow.url}/device?user_code=AB-CD`);
    expect(stderr).not.toContain('secret-device-code');
  });

  test.each([
    ['access_denied', 'denied in the browser'],
    ['expired_token', 'The code was not entered in time'],
  ])('exits with code 4 on %s', async (error, reason) => {
    await using slow = await startTokenServer({ answers: [oauthError(error)] });
    await using home = await createConfigDirectory();
    const env = { MANDATE_API_URL: slow.url, MANDATE_CONFIG_DIR: home.path };
    expect(await runInProcess(['login', '--device'], { env })).toMatchObject({
      exitCode: 4,
      stdout: '',
      stderr: expect.stringContaining(reason),
    });
  });

  test('prints no URL of another origin', async () => {
    await using slow = await startTokenServer({ link: 'https://evil.example/?user_code=AB-CD', answers: [tokens] });
    await using home = await createConfigDirectory();
    const env = { MANDATE_API_URL: slow.url, MANDATE_CONFIG_DIR: home.path };
    const { stderr } = await runInProcess(['login', '--device', '--scopes', 'orders.read'], { env });
    expect(stderr).not.toContain('evil.example');
  });

  test.each<[string, Record<string, string>, boolean, 'device' | 'browser']>([
    ['over ssh', { SSH_CONNECTION: '1', DISPLAY: ':0' }, true, 'device'],
    ['without a display', {}, true, 'device'],
    ['without a terminal', { DISPLAY: ':0' }, false, 'device'],
    ['in a container', { container: 'docker', DISPLAY: ':0' }, true, 'device'],
    ['at a desktop', { DISPLAY: ':0' }, true, 'browser'],
  ])('is chosen if no local browser can be used: %s', async (_, env, stdinIsTTY, mode) => {
    await using slow = await startTokenServer({ answers: [oauthError('access_denied')] });
    await using home = await createConfigDirectory();
    const more = { MANDATE_API_URL: slow.url, MANDATE_CONFIG_DIR: home.path };
    const { stderr } = await runInProcess(['login', '--timeout', '300ms'], { env: { ...more, ...env }, stdinIsTTY });
    expect(stderr.includes('enter this code')).toBe(mode === 'device');
  });
});

describe('signing in with an existing token', () => {
  test('stores a token that the service accepts', async () => {
    const person = await signUp(server.origin);
    const { access_token: token } = await obtainTokens(server.origin, person, ['users.read', 'orders.read']);
    await using home = await createConfigDirectory();
    const env = { MANDATE_API_URL: server.origin, MANDATE_CONFIG_DIR: home.path };
    const { exitCode, stdout, stderr } = await runInProcess(['login', '--with-token'], { env, stdin: `${token}\n` });
    expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: '' });
    expect(stderr).toContain(`Signed in as ${person.email} (profile default, scopes users.read orders.read)`);
    expect(stderr).not.toContain(token);
    expect((await runInProcess(['orders', 'list', '--json'], { env })).exitCode).toBe(0);
  });

  test('does not store a token that the service rejects', async () => {
    await using home = await createConfigDirectory();
    const env = { MANDATE_API_URL: server.origin, MANDATE_CONFIG_DIR: home.path };
    expect(await runInProcess(['login', '--with-token'], { env, stdin: 'not-a-token-of-ours\n' })).toMatchObject({
      exitCode: 4,
      stdout: '',
    });
    expect(await runInProcess(['login', '--with-token'], { env, stdin: 'two words\n' })).toMatchObject({ exitCode: 2, stdout: '' });
    expect((await runInProcess(['orders', 'list'], { env })).exitCode).toBe(4);
  });

  test('stores a token that lacks the scope to read its user', async () => {
    await using stub = await startStubServer(({ url }) =>
      url === '/api/v1/users/me' ? createProblemResponse(403, 'insufficient_scope') : { body: { id: 1 } },
    );
    await using home = await createConfigDirectory();
    const env = { MANDATE_API_URL: stub.url, MANDATE_CONFIG_DIR: home.path };
    expect((await runInProcess(['login', '--with-token'], { env, stdin: 'mdk_an-api-key-of-ours' })).exitCode).toBe(0);
    expect((await runInProcess(['orders', 'get', '1'], { env })).exitCode).toBe(0);
    expect(stub.seen.at(-1)?.headers.authorization).toBe('Bearer mdk_an-api-key-of-ours');
  });
});

describe('the refresh token', () => {
  const signedIn = async (storage: string | undefined, open: (() => Promise<SystemKeyring>) | undefined) => {
    const stub = await startTokenServer({ answers: [tokens] });
    const home = await createConfigDirectory();
    const env = { MANDATE_API_URL: stub.url, MANDATE_CONFIG_DIR: home.path };
    const argv = ['login', '--device', '--scopes', 'orders.read', ...(storage === undefined ? [] : ['--storage', storage])];
    const outcome = await runInProcess(argv, { env, ...(open && { keyring: open }) });
    const file = await readFile(home.file, 'utf8').catch(() => '');
    await Promise.all([stub[Symbol.asyncDispose](), home[Symbol.asyncDispose]()]);
    return { ...outcome, file };
  };

  test.each([undefined, 'auto', 'keyring'])('is stored in the system keyring and not in the file with --storage %s', async (storage) => {
    const { kept, open } = keyring();
    const { exitCode, stderr, file } = await signedIn(storage, open);
    expect({ exitCode, kept: [...kept.values()] }).toEqual({ exitCode: 0, kept: ['refresh-1'] });
    expect(stderr).toContain('Credentials: system keyring.');
    expect(file).toContain('access-1');
    expect(file).not.toContain('refresh-1');
  });

  test('is stored in the file without a keyring or with --storage file', async () => {
    expect((await signedIn(undefined, undefined)).file).toContain('refresh-1');
    const { kept, open } = keyring();
    expect((await signedIn('file', open)).file).toContain('refresh-1');
    expect(kept.size).toBe(0);
  });

  test('is stored in the file if the keyring does not keep secrets', async () => {
    const losingKeyring = async (): Promise<SystemKeyring> => ({
      get: async () => undefined,
      set: async () => undefined,
      remove: async () => undefined,
    });
    expect((await signedIn('auto', losingKeyring)).file).toContain('refresh-1');
    expect(await signedIn('keyring', losingKeyring)).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('--storage file') });
  });

  test('in the keyring is read only for a renewal, replaced by it and deleted at sign-out', async () => {
    await using stub = await startStubAuthorizationServer();
    await using home = await createConfigDirectory();
    const { kept, open } = keyring();
    let opened = 0;
    const countingOpen = (): Promise<SystemKeyring> => {
      opened += 1;
      return open();
    };
    const env = { MANDATE_API_URL: stub.url, MANDATE_CONFIG_DIR: home.path };
    await writeExpiredCredential(home.file, stub.url);
    const { createHash } = await import('node:crypto');
    kept.set(`default ${createHash('sha256').update(home.path).digest('hex').slice(0, 16)}`, 'refresh-0');
    expect((await runInProcess(['orders', 'get', '1'], { env, keyring: countingOpen })).exitCode).toBe(0);
    expect([...kept.values()]).toEqual(['refresh-1']);
    expect(await readFile(home.file, 'utf8')).not.toContain('refresh-1');
    const before = opened;
    expect((await runInProcess(['orders', 'get', '1'], { env, keyring: countingOpen })).exitCode).toBe(0);
    expect(opened).toBe(before);
    expect((await runInProcess(['logout'], { env, keyring: countingOpen })).exitCode).toBe(0);
    expect(new URLSearchParams(stub.seen.find(({ url }) => url === '/revoke')?.body).get('token')).toBe('refresh-1');
    expect(kept.size).toBe(0);
  });

  test('is stored in the file if the keyring no longer accepts it', async () => {
    await using stub = await startStubAuthorizationServer();
    await using home = await createConfigDirectory();
    const { open } = keyring();
    const full = async (): Promise<SystemKeyring> => ({
      ...(await open()),
      get: async () => 'refresh-0',
      set: () => Promise.reject(new Error('locked')),
    });
    const env = { MANDATE_API_URL: stub.url, MANDATE_CONFIG_DIR: home.path };
    await writeExpiredCredential(home.file, stub.url);
    expect((await runInProcess(['orders', 'get', '1'], { env, keyring: full })).exitCode).toBe(0);
    expect(await readFile(home.file, 'utf8')).toContain('refresh-1');
  });
});
