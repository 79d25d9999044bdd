import { request as httpRequest } from 'node:http';
import { readFile, stat } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { startStubAuthorizationServer } from '../../sdk/authorization/stub-authorization-server.ts';
import { createConfigDirectory, runInProcess, type CommandOutcome } from '../run-command-line.ts';

type Login = {
  readonly outcome: Promise<CommandOutcome>;
  readonly authorize: URL;
  readonly callback: (changes?: Record<string, string>) => URL;
};

/** Starts a sign-in within the test process and returns the authorization URL that it prints. */
async function startLogin(
  apiUrl: string,
  directory: string,
  argv: readonly string[] = [],
  more: Partial<Parameters<typeof runInProcess>[1]> = {},
  scopes: readonly string[] = ['--scopes', 'orders.read'],
): Promise<Login> {
  const { promise, resolve } = Promise.withResolvers<URL>();
  let output = '';
  const outcome = runInProcess(['login', '--no-browser', ...scopes, ...argv], {
    env: { MANDATE_API_URL: apiUrl, MANDATE_CONFIG_DIR: directory },
    onStderr: (text) => {
      output += text;
      const authorizeUrl = /^http\S+\/authorize\?\S+$/m.exec(output)?.[0];
      if (authorizeUrl !== undefined) resolve(new URL(authorizeUrl));
    },
    ...more,
  });
  const authorize = await Promise.race([promise, outcome.then(({ stderr }) => Promise.reject(new Error(stderr)))]);
  const callback = (changes: Record<string, string> = {}): URL => {
    const url = new URL(authorize.searchParams.get('redirect_uri') ?? '');
    const parameters = {
      code: authorize.searchParams.get('code_challenge') ?? '',
      state: authorize.searchParams.get('state') ?? '',
      iss: apiUrl,
      ...changes,
    };
    for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
    return url;
  };
  return { outcome, authorize, callback };
}

/** Sends a request with a custom Host header, which `fetch` does not allow, and returns the response status. */
const statusWith = (url: URL, init: { method?: string; host?: string }): Promise<number | undefined> =>
  new Promise((resolve, reject) => {
    httpRequest(url, { method: init.method ?? 'GET', headers: { host: init.host ?? url.host } }, (res) => {
      res.resume();
      resolve(res.statusCode);
    })
      .on('error', reject)
      .end();
  });

describe('signing in', () => {
  test('listens on 127.0.0.1, exchanges the code and reports success in the browser and the terminal', async () => {
    await using server = await startStubAuthorizationServer();
    await using directory = await createConfigDirectory();
    const login = await startLogin(server.url, directory.path);
    expect(login.authorize.searchParams.get('redirect_uri')).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/callback$/);
    expect(login.authorize.searchParams.get('scope')).toBe('openid offline_access orders.read');
    const page = await fetch(login.callback());
    expect(page.status).toBe(200);
    expect(server.grants).toEqual(['authorization_code']);
    expect(await page.text()).toContain('You can close this window');
    expect(Object.fromEntries(page.headers)).toMatchObject({
      'cache-control': 'no-store',
      'referrer-policy': 'no-referrer',
      'content-security-policy': expect.stringContaining("default-src 'none'"),
    });
    expect(await login.outcome).toMatchObject({
      exitCode: 0,
      stdout: '',
      stderr: expect.stringContaining('Signed in (profile default, scopes orders.read)'),
    });
    expect(JSON.parse(await readFile(directory.file, 'utf8'))).toMatchObject({
      default: { apiUrl: server.url, accessToken: 'access-1', refreshToken: 'refresh-1' },
    });
  });

  test('prints the result as JSON with --json', async () => {
    await using server = await startStubAuthorizationServer();
    await using directory = await createConfigDirectory();
    const login = await startLogin(server.url, directory.path, ['--json']);
    await fetch(login.callback());
    expect(JSON.parse((await login.outcome).stdout)).toEqual({
      profile: 'default',
      api_url: server.url,
      user: null,
      scopes: ['orders.read'],
    });
  });

  test('prints no token and no code', async () => {
    await using server = await startStubAuthorizationServer();
    await using directory = await createConfigDirectory();
    const login = await startLogin(server.url, directory.path, ['--debug', '--json']);
    await fetch(login.callback());
    const { stdout, stderr } = await login.outcome;
    expect(stdout + stderr).not.toMatch(/access-1|refresh-1|code_verifier/);
  });

  test('opens the browser and prints the URL, even if the browser fails to open', async () => {
    await using server = await startStubAuthorizationServer();
    await using directory = await createConfigDirectory();
    const opened: string[] = [];
    let output = '';
    const outcome = runInProcess(['login', '--scopes', 'orders.read'], {
      env: { MANDATE_API_URL: server.url, MANDATE_CONFIG_DIR: directory.path, DISPLAY: ':0' },
      stdinIsTTY: true,
      openBrowser: async (url) => {
        opened.push(url);
        throw new Error('no browser');
      },
      onStderr: (text) => (output += text),
      interrupted: AbortSignal.timeout(300),
    });
    expect((await outcome).exitCode).toBe(130);
    expect(opened).toHaveLength(1);
    expect(output).toContain(opened[0]);
    expect(output).toContain('The browser could not be opened. Open the URL above.');
  });
});

describe('signing in again with --force', () => {
  test('requests a new sign-in (max_age) with the granted scopes', async () => {
    await using server = await startStubAuthorizationServer();
    await using directory = await createConfigDirectory();
    const first = await startLogin(server.url, directory.path);
    expect(first.authorize.searchParams.has('max_age')).toBe(false);
    await fetch(first.callback());
    expect((await first.outcome).exitCode).toBe(0);
    const again = await startLogin(server.url, directory.path, ['--force'], {}, []);
    expect(again.authorize.searchParams.get('max_age')).toBe('60');
    expect(again.authorize.searchParams.get('scope')).toBe('openid offline_access orders.read');
    await fetch(again.callback());
    expect((await again.outcome).exitCode).toBe(0);
  });
});

describe('an unexpected request to the loopback port', () => {
  test('does not affect the sign-in', async () => {
    await using server = await startStubAuthorizationServer({ tokenDelayMs: 500 });
    await using directory = await createConfigDirectory();
    const login = await startLogin(server.url, directory.path);
    const favicon = new URL('/favicon.ico', login.callback());
    expect((await fetch(favicon)).status).toBe(404);
    expect((await fetch(login.callback({ state: 'forged' }))).status).toBe(400);
    expect((await fetch(login.callback({ state: 'forged', error: 'access_denied' }))).status).toBe(400);
    expect(await statusWith(login.callback(), { host: 'evil.example' })).toBe(421);
    expect(await statusWith(login.callback(), { host: `localhost:${login.callback().port}` })).toBe(421);
    expect(await statusWith(login.callback(), { method: 'POST' })).toBe(405);
    expect(server.grants).toEqual([]);
    const statuses = await Promise.all([fetch(login.callback()), fetch(login.callback())].map(async (response) => (await response).status));
    expect(statuses.toSorted((a, b) => a - b)).toEqual([200, 410]);
    expect((await login.outcome).exitCode).toBe(0);
    expect(server.grants).toEqual(['authorization_code']);
  });

  test('does not keep the command running over an idle connection', async () => {
    await using server = await startStubAuthorizationServer();
    await using directory = await createConfigDirectory();
    const login = await startLogin(server.url, directory.path);
    const { connect } = await import('node:net');
    const idle = connect(Number(login.callback().port), '127.0.0.1').on('error', () => undefined);
    await fetch(login.callback());
    const startedAt = performance.now();
    await login.outcome;
    expect(performance.now() - startedAt).toBeLessThan(1000);
    idle.destroy();
  });
});

describe('a failed sign-in', () => {
  test.each<[string, Record<string, string>, string]>([
    ['the user denied it', { error: 'access_denied' }, 'denied in the browser'],
    ['the response came from another authorization server', { iss: 'https://evil.example' }, 'Invalid response from'],
    ['the code is invalid', { code: 'stolen' }, 'invalid_grant'],
  ])('exits with code 4 and shows an error page in the browser because %s', async (_, changes, reason) => {
    await using server = await startStubAuthorizationServer();
    await using directory = await createConfigDirectory();
    const login = await startLogin(server.url, directory.path);
    const page = await fetch(login.callback(changes));
    expect(page.status).toBe(400);
    expect(await page.text()).toContain('You are not signed in');
    expect(await login.outcome).toMatchObject({ exitCode: 4, stdout: '', stderr: expect.stringContaining(reason) });
    await expect(stat(directory.file)).rejects.toThrow('ENOENT');
  });

  test('escapes HTML in the error description', async () => {
    await using server = await startStubAuthorizationServer();
    await using directory = await createConfigDirectory();
    const login = await startLogin(server.url, directory.path);
    const page = await (await fetch(login.callback({ error: 'server_error', error_description: '<script>alert(1)</script>' }))).text();
    expect(page).not.toContain('<script>');
    expect(page).toContain('&#60;script&#62;');
    await login.outcome;
  });

  test('exits with code 4 if the user does not sign in before the timeout', async () => {
    await using server = await startStubAuthorizationServer();
    await using directory = await createConfigDirectory();
    const login = await startLogin(server.url, directory.path, ['--timeout', '100ms']);
    expect(await login.outcome).toMatchObject({
      exitCode: 4,
      stderr: expect.stringContaining('The sign-in was not completed within 0.1 s'),
    });
  });

  test('exits with code 130 on Ctrl-C', async () => {
    await using server = await startStubAuthorizationServer();
    await using directory = await createConfigDirectory();
    const login = await startLogin(server.url, directory.path, [], { interrupted: AbortSignal.timeout(200) });
    expect((await login.outcome).exitCode).toBe(130);
  });

  test('exits with code 11 if the service does not respond', async () => {
    await using directory = await createConfigDirectory();
    const outcome = await runInProcess(['login', '--no-browser'], {
      env: { MANDATE_API_URL: 'http://127.0.0.1:9', MANDATE_CONFIG_DIR: directory.path },
    });
    expect(outcome).toMatchObject({ exitCode: 11, stdout: '' });
  });

  test.each<[string[], Record<string, string>]>([
    [[], { MANDATE_TOKEN: 'x' }],
    [['--scopes', 'orders;drop'], {}],
    [['--port', '99999'], {}],
  ])('is rejected before any request for %j %j', async (argv, env) => {
    await using server = await startStubAuthorizationServer();
    expect(await runInProcess(['login', '--no-browser', ...argv], { env: { MANDATE_API_URL: server.url, ...env } })).toMatchObject({
      exitCode: 2,
      stdout: '',
    });
    expect(server.grants).toEqual([]);
  });
});
