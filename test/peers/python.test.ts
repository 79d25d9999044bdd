import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { describe, expect, test } from 'vitest';
import { signUp, createWebApplication } from '../support/oauth/oauth-flow.ts';
import { useServer } from '../support/server/use-server.ts';
import { completeAuthorization } from '../support/oauth/complete-authorization.ts';
import { hasPythonModule, python } from '../support/python.ts';

describe.each([
  ['authlib', 'authlib_client.py', 'python3-authlib'],
  ['authlib', 'authlib_openid_client.py', 'python3-authlib'],
  ['requests_oauthlib', 'requests_oauthlib_client.py', 'python3-requests-oauthlib'],
])('%s in %s', (module, script, debianPackage) => {
  const server = useServer();
  const installed = hasPythonModule(module);

  test('signs a user in, refreshes the tokens, and reads the user', async ({ skip }) => {
    skip(!installed, `requires the Debian package ${debianPackage}`);
    const anna = await signUp(server.origin);
    const app = await createWebApplication(server.db, ['users.read']);
    const client = spawn(python, [join(import.meta.dirname, script), server.origin, app.clientId, app.secret, app.redirectUri], {
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    let errorOutput = '';
    client.stderr.on('data', (chunk) => (errorOutput += String(chunk)));
    const exited = once(client, 'exit');
    const lines = createInterface(client.stdout)[Symbol.asyncIterator]();
    const url = (await lines.next()).value ?? '';
    expect(url, errorOutput).toMatch(/^http/);
    client.stdin.write(`${(await completeAuthorization(anna, url)).href}\n`);
    const me: unknown = (await lines.next()).value;
    await exited;
    expect(errorOutput).toBe('');
    expect(JSON.parse(String(me))).toMatchObject({ id: anna.id, email: anna.email });
  });
});
