import { request as httpRequest } from 'node:http';
import { readFile, stat } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { stubAuthorizationServer } from '../../sdk/authorization/stub-authorization-server.ts';
import { configDirectory, runHere, type Outcome } from '../command-line.ts';

type Login = { readonly outcome: Promise<Outcome>; readonly authorize: URL; readonly callback: (changes?: Record<string, string>) => URL };

/** Begins a sign-in in this process and gives the address that the terminal shows. */
async function begin(
  apiUrl: string,
  directory: string,
  argv: readonly string[] = [],
  more: Partial<Parameters<typeof runHere>[1]> = {},
  scopes: readonly string[] = ['--scopes', 'orders.read'],
): Promise<Login> {
  const { promise, resolve } = Promise.withResolvers<URL>();
  let said = '';
  const outcome = runHere(['login', '--no-browser', ...scopes, ...argv], {
    env: { MANDATE_API_URL: apiUrl, MANDATE_CONFIG_DIR: directory },
    onStderr: (text) => {
      said += text;
      const address = /^http\S+\/authorize\?\S+$/m.exec(said)?.[0];
      if (address !== undefined) resolve(new URL(address));
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

/** fetch does not let one choose the host header. */
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
  test('listens on 127.0.0.1, exchanges the code, then tells browser and terminal', async () => {
    await using server = await stubAuthorizationServer();
    await using directory = await configDirectory();
    const login = await begin(server.url, directory.path);
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

  test('says so in JSON when asked', async () => {
    await using server = await stubAuthorizationServer();
    await using directory = await configDirectory();
    const login = await begin(server.url, directory.path, ['--json']);
    await fetch(login.callback());
    expect(JSON.parse((await login.outcome).stdout)).toEqual({
      profile: 'default',
      api_url: server.url,
      user: null,
      scopes: ['orders.read'],
    });
  });

  test('tells no token and no code on any output', async () => {
    await using server = await stubAuthorizationServer();
    await using directory = await configDirectory();
    const login = await begin(server.url, directory.path, ['--debug', '--json']);
    await fetch(login.callback());
    const { stdout, stderr } = await login.outcome;
    expect(stdout + stderr).not.toMatch(/access-1|refresh-1|code_verifier/);
  });

  test('opens the browser and still prints the address; a browser that fails to open is no failure', async () => {
    await using server = await stubAuthorizationServer();
    await using directory = await configDirectory();
    const opened: string[] = [];
    let said = '';
    const outcome = runHere(['login', '--scopes', 'orders.read'], {
      env: { MANDATE_API_URL: server.url, MANDATE_CONFIG_DIR: directory.path, DISPLAY: ':0' },
      stdinIsTTY: true,
      openBrowser: async (url) => {
        opened.push(url);
        throw new Error('no browser');
      },
      onStderr: (text) => (said += text),
      interrupted: AbortSignal.timeout(300),
    });
    expect((await outcome).exitCode).toBe(130);
    expect(opened).toHaveLength(1);
    expect(said).toContain(opened[0]);
    expect(said).toContain('No browser opened; use the address above.');
  });
});

describe('signing in again with --force', () => {
  test('asks for a new sign-in (max_age) with the scopes that are granted already', async () => {
    await using server = await stubAuthorizationServer();
    await using directory = await configDirectory();
    const first = await begin(server.url, directory.path);
    expect(first.authorize.searchParams.has('max_age')).toBe(false);
    await fetch(first.callback());
    expect((await first.outcome).exitCode).toBe(0);
    const again = await begin(server.url, directory.path, ['--force'], {}, []);
    expect(again.authorize.searchParams.get('max_age')).toBe('60');
    expect(again.authorize.searchParams.get('scope')).toBe('openid offline_access orders.read');
    await fetch(again.callback());
    expect((await again.outcome).exitCode).toBe(0);
  });
});

describe('a visit that is not the browser coming back', () => {
  test('changes nothing', async () => {
    await using server = await stubAuthorizationServer({ tokenDelayMs: 500 });
    await using directory = await configDirectory();
    const login = await begin(server.url, directory.path);
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

  test('an idle connection does not keep the command alive', async () => {
    await using server = await stubAuthorizationServer();
    await using directory = await configDirectory();
    const login = await begin(server.url, directory.path);
    const { connect } = await import('node:net');
    const idle = connect(Number(login.callback().port), '127.0.0.1').on('error', () => undefined);
    await fetch(login.callback());
    const begun = performance.now();
    await login.outcome;
    expect(performance.now() - begun).toBeLessThan(1000);
    idle.destroy();
  });
});

describe('a sign-in that fails', () => {
  test.each<[string, Record<string, string>, string]>([
    ['the person refused', { error: 'access_denied' }, 'refused in the browser'],
    ['another authorization server answered', { iss: 'https://evil.example' }, 'cannot be trusted'],
    ['the code is not good', { code: 'stolen' }, 'invalid_grant'],
  ])('ends with 4 in the terminal and says so in the browser: %s', async (_, changes, reason) => {
    await using server = await stubAuthorizationServer();
    await using directory = await configDirectory();
    const login = await begin(server.url, directory.path);
    const page = await fetch(login.callback(changes));
    expect(page.status).toBe(400);
    expect(await page.text()).toContain('You are not signed in');
    expect(await login.outcome).toMatchObject({ exitCode: 4, stdout: '', stderr: expect.stringContaining(reason) });
    await expect(stat(directory.file)).rejects.toThrow('ENOENT');
  });

  test('shows what others wrote as text, not as a page', async () => {
    await using server = await stubAuthorizationServer();
    await using directory = await configDirectory();
    const login = await begin(server.url, directory.path);
    const page = await (await fetch(login.callback({ error: 'server_error', error_description: '<script>alert(1)</script>' }))).text();
    expect(page).not.toContain('<script>');
    expect(page).toContain('&#60;script&#62;');
    await login.outcome;
  });

  test('ends with 4 when nobody comes', async () => {
    await using server = await stubAuthorizationServer();
    await using directory = await configDirectory();
    const login = await begin(server.url, directory.path, ['--timeout', '100ms']);
    expect(await login.outcome).toMatchObject({ exitCode: 4, stderr: expect.stringContaining('Nobody signed in within 0.1 s') });
  });

  test('ends with 130 on Ctrl-C', async () => {
    await using server = await stubAuthorizationServer();
    await using directory = await configDirectory();
    const login = await begin(server.url, directory.path, [], { interrupted: AbortSignal.timeout(200) });
    expect((await login.outcome).exitCode).toBe(130);
  });

  test('ends with 11 when the service does not answer', async () => {
    await using directory = await configDirectory();
    const outcome = await runHere(['login', '--no-browser'], {
      env: { MANDATE_API_URL: 'http://127.0.0.1:9', MANDATE_CONFIG_DIR: directory.path },
    });
    expect(outcome).toMatchObject({ exitCode: 11, stdout: '' });
  });

  test.each<[string[], Record<string, string>]>([
    [[], { MANDATE_TOKEN: 'x' }],
    [['--scopes', 'orders;drop'], {}],
    [['--port', '99999'], {}],
  ])('is refused before anything happens: %j %j', async (argv, env) => {
    await using server = await stubAuthorizationServer();
    expect(await runHere(['login', '--no-browser', ...argv], { env: { MANDATE_API_URL: server.url, ...env } })).toMatchObject({
      exitCode: 2,
      stdout: '',
    });
    expect(server.grants).toEqual([]);
  });
});
