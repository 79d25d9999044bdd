import { readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { backdateSessions } from '../../support/oauth/backdate-sessions.ts';
import { sendRefreshRequest, readOAuthError, signUp, type TestUser } from '../../support/oauth/oauth-flow.ts';
import { fetchApiStatus, useServer } from '../../support/server/use-server.ts';
import { createConfigDirectory, runInProcess, runProcess } from '../run-command-line.ts';

const server = useServer();

const credential = z.object({ accessToken: z.string(), refreshToken: z.string(), expiresAt: z.number(), bound: z.boolean() }).passthrough();
const file = z.object({ default: credential });

/** Signs in a new user with `mandate login` and a browser, through the authorization server's pages. */
async function signIn(...flags: string[]) {
  const home = await createConfigDirectory();
  const env = { MANDATE_API_URL: server.origin, MANDATE_CONFIG_DIR: home.path };
  const person = await signUp(server.origin);
  const outcome = await runInProcess(['login', '--scopes', 'users.read,orders.read', '--storage', 'file', ...flags], {
    env: { ...env, DISPLAY: ':0' },
    stdinIsTTY: true,
    openBrowser: (url) => confirmInBrowser(person, url),
  });
  expect(outcome).toMatchObject({ exitCode: 0, stdout: '' });
  const kept = async () => file.parse(JSON.parse(await readFile(home.file, 'utf8'))).default;
  return { ...home, [Symbol.asyncDispose]: home[Symbol.asyncDispose], env, person, kept };
}

async function confirmInBrowser({ browser }: TestUser, url: string): Promise<void> {
  const { pathname, search } = new URL(url);
  const back = await browser.submit(await browser.open(pathname + search), { decision: 'allow' });
  if (!back.externalRedirect) throw new Error(`the sign-in stopped at ${back.url.pathname}`);
  expect((await fetch(back.externalRedirect)).status).toBe(200);
}

/** Returns the number of access tokens that the server has issued. */
async function countIssuedTokens(): Promise<number> {
  const rows = await server.db.em
    .fork()
    .execute<{ issued: string }[]>("select count(*) as issued from oauth_records where model = 'AccessToken'");
  return Number(rows[0]?.issued);
}

/** Marks the stored access token as expired. */
async function expireAccessToken(home: { readonly file: string }): Promise<void> {
  const all = file.parse(JSON.parse(await readFile(home.file, 'utf8')));
  await writeFile(home.file, JSON.stringify({ default: { ...all.default, expiresAt: 0 } }));
}

describe('the stored credential', () => {
  test("works only with this machine's key", async () => {
    await using home = await signIn();
    expect((await runInProcess(['whoami', '--get', 'email'], { env: home.env })).stdout).toBe(`${home.person.email}\n`);
    const { accessToken, refreshToken, bound } = await home.kept();
    expect(bound).toBe(true);
    expect(await fetchApiStatus(server, accessToken)).toBe(401);
    expect(await readOAuthError(await sendRefreshRequest(server.origin, refreshToken))).toBe('400 invalid_grant');
    await using elsewhere = await createConfigDirectory();
    await writeFile(elsewhere.file, await readFile(home.file, 'utf8'));
    const stolen = await runInProcess(['whoami'], { env: { ...home.env, MANDATE_CONFIG_DIR: elsewhere.path } });
    expect(stolen).toMatchObject({ exitCode: 4, stdout: '', stderr: expect.stringContaining('hint: Sign in with: mandate login') });
  });

  test('remains valid after a failed attempt to use it without the key', async () => {
    await using home = await signIn();
    const { accessToken, refreshToken } = await home.kept();
    expect(await readOAuthError(await sendRefreshRequest(server.origin, refreshToken))).toBe('400 invalid_grant');
    await expireAccessToken(home);
    expect((await runInProcess(['whoami'], { env: home.env })).exitCode).toBe(0);
    expect((await home.kept()).accessToken).not.toBe(accessToken);
  });

  test('is renewed only once by eight concurrent commands', async () => {
    await using home = await signIn();
    const before = await countIssuedTokens();
    await expireAccessToken(home);
    const outcomes = await Promise.all(Array.from({ length: 8 }, () => runProcess(['whoami', '--get', 'email'], home.env)));
    expect(outcomes.map(({ exitCode, stdout }) => `${exitCode} ${stdout}`)).toEqual(
      Array.from({ length: 8 }, () => `0 ${home.person.email}\n`),
    );
    expect(await countIssuedTokens()).toBe(before + 1);
    expect((await runInProcess(['whoami'], { env: home.env })).exitCode).toBe(0);
  }, 60_000);

  test('has a key that only its owner can read and that is deleted at sign-out', async () => {
    await using home = await signIn();
    const keys = join(home.path, 'proof-keys.json');
    expect((await stat(keys)).mode & 0o777).toBe(0o600);
    expect(Object.keys(JSON.parse(await readFile(keys, 'utf8')))).toEqual(['default']);
    expect((await runInProcess(['auth', 'token'], { env: home.env })).stderr).toContain('mandate login --no-dpop');
    expect((await runInProcess(['logout'], { env: home.env })).exitCode).toBe(0);
    expect(await readFile(keys, 'utf8')).toBe('{}\n');
  });

  test('works in other programs with --no-dpop', async () => {
    await using home = await signIn('--no-dpop');
    const { stdout, stderr } = await runInProcess(['auth', 'token'], { env: home.env });
    expect(stderr).toBe('');
    expect(await fetchApiStatus(server, stdout.trim())).toBe(200);
    expect((await runInProcess(['whoami'], { env: home.env })).exitCode).toBe(0);
  });
});

describe('creating an API key', () => {
  const create = ['api-keys', 'create', '--name', 'Backup', '--scopes', 'users.read', '--get', 'prefix'];

  /** Confirms the request in a browser whose session is twenty minutes old. If a recent sign-in is required, the user signs in again. */
  async function confirmWithOldSession(person: TestUser, url: string): Promise<void> {
    await backdateSessions(server.db, person.id, 20);
    const { pathname, search } = new URL(url);
    const page = await person.browser.open(pathname + search);
    const next = page.url.pathname.startsWith('/sign-in/')
      ? await person.browser.submit(page, { email: person.email, password: person.password })
      : page;
    const back = next.externalRedirect ? next : await person.browser.submit(next, { decision: 'allow' });
    if (!back.externalRedirect) throw new Error(`the sign-in stopped at ${back.url.pathname}`);
    expect((await fetch(back.externalRedirect)).status).toBe(200);
  }

  async function login(person: TestUser, env: Record<string, string>, ...flags: string[]): Promise<void> {
    const outcome = await runInProcess(['login', '--storage', 'file', ...flags], {
      env: { ...env, DISPLAY: ':0' },
      stdinIsTTY: true,
      openBrowser: (url) => confirmWithOldSession(person, url),
    });
    expect(outcome).toMatchObject({ exitCode: 0, stdout: '' });
  }

  /** Moves the sign-in time of the user's refresh tokens back by twenty minutes. */
  async function ageRefreshTokens({ id }: TestUser): Promise<void> {
    const em = server.db.em.fork();
    const where = `model = 'RefreshToken' and account_id = ?`;
    const rows = await em.execute<{ id: string; payload: string }[]>(`select id, payload from oauth_records where ${where}`, [String(id)]);
    for (const row of rows) {
      const payload = JSON.parse(row.payload);
      const aged = JSON.stringify({ ...payload, authTime: payload.authTime - 20 * 60 });
      await em.execute(`update oauth_records set payload = ? where ${where} and id = ?`, [aged, String(id), row.id]);
    }
  }

  test('works immediately after mandate login, and later requires mandate login --force, which the error suggests', async () => {
    await using home = await createConfigDirectory();
    const env = { MANDATE_API_URL: server.origin, MANDATE_CONFIG_DIR: home.path };
    const person = await signUp(server.origin);
    await login(person, env, '--scopes', 'users.read,api_keys.manage');
    expect(await runInProcess(create, { env })).toMatchObject({ exitCode: 0, stdout: expect.stringMatching(/^mk_/) });
    await ageRefreshTokens(person);
    await expireAccessToken(home);
    const refused = await runInProcess(create, { env });
    expect(refused).toMatchObject({
      exitCode: 4,
      stdout: '',
      stderr: expect.stringContaining('hint: Sign in again with: mandate login --force'),
    });
    await login(person, env, '--force');
    expect(await runInProcess(create, { env })).toMatchObject({ exitCode: 0, stdout: expect.stringMatching(/^mk_/) });
  });
});
