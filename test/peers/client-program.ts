import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { expect } from 'vitest';
import { hasActiveSession, submitFormContaining } from '../support/oauth/account-pages.ts';
import { completeAuthorization } from '../support/oauth/complete-authorization.ts';
import { createWebApplication, signUp, type TestUser } from '../support/oauth/oauth-flow.ts';
import type { JsonBody } from '../support/server/start-mandate.ts';
import type { RunningServer } from '../support/server/use-server.ts';

export type ClientProgramOptions = { readonly cwd?: string; readonly env?: NodeJS.ProcessEnv };

/**
 * Signs a new user in with a program that is written in a different programming language. The program receives the issuer, client ID,
 * client secret and redirect URI as arguments, prints the authorization URL, reads the callback URL, and prints the user as JSON.
 */
export async function signInWithClientProgram(
  server: Pick<RunningServer, 'origin' | 'db'>,
  [program, ...parameters]: readonly [string, ...string[]],
  options: ClientProgramOptions = {},
): Promise<{ user: TestUser; output: JsonBody }> {
  const user = await signUp(server.origin);
  const app = await createWebApplication(server.db, ['users.read']);
  const client = spawn(program, [...parameters, server.origin, app.clientId, app.secret, app.redirectUri], {
    ...options,
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  let errorOutput = '';
  client.stderr.on('data', (chunk) => (errorOutput += String(chunk)));
  const exited = once(client, 'exit');
  const lines = createInterface(client.stdout)[Symbol.asyncIterator]();
  const url = (await lines.next()).value ?? '';
  expect(url, errorOutput).toMatch(/^http/);
  client.stdin.write(`${(await completeAuthorization(user, url)).href}\n`);
  const output: unknown = (await lines.next()).value;
  await exited;
  expect(errorOutput).toBe('');
  return { user, output: JSON.parse(String(output)) };
}

/**
 * Opens an application's sign-out URL, confirms the sign-out, and expects the user to be signed out. Returns the redirect URI, if there is
 * one.
 */
export async function expectSignOut({ browser }: Pick<TestUser, 'browser'>, url: URL | string): Promise<string | undefined> {
  const page = await submitFormContaining(browser, await browser.open(String(url)), 'op.logoutForm', { logout: 'yes' });
  expect(await hasActiveSession(browser)).toBe(false);
  return page.externalRedirect?.href;
}
