import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { describe, expect, test } from 'vitest';
import { signUp, webApplication } from '../support/oauth/oauth-flow.ts';
import { useServer } from '../support/server/with-server.ts';
import { followThrough } from './sign-in-with.ts';

/** Debian's own, whatever else is on the machine. */
const python = '/usr/bin/python3';

describe.each([
  ['authlib', 'authlib_client.py', 'python3-authlib'],
  ['authlib', 'authlib_openid_client.py', 'python3-authlib'],
  ['requests_oauthlib', 'requests_oauthlib_client.py', 'python3-requests-oauthlib'],
])('%s in %s', (module, script, debianPackage) => {
  const server = useServer();
  const installed = spawnSync(python, ['-c', `import ${module}`]).status === 0;

  test('signs somebody in, refreshes, and asks who it is, as it comes', async ({ skip }) => {
    skip(!installed, `needs Debian's package ${debianPackage}`);
    const anna = await signUp(server.origin);
    const app = await webApplication(server.db, ['users.read']);
    const client = spawn(python, [join(import.meta.dirname, script), server.origin, app.clientId, app.secret, app.redirectUri], {
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    let complaints = '';
    client.stderr.on('data', (chunk) => (complaints += String(chunk)));
    const ended = once(client, 'exit');
    const lines = createInterface(client.stdout)[Symbol.asyncIterator]();
    const url = (await lines.next()).value ?? '';
    expect(url, complaints).toMatch(/^http/);
    client.stdin.write(`${(await followThrough(anna, url)).href}\n`);
    const me: unknown = (await lines.next()).value;
    await ended;
    expect(complaints).toBe('');
    expect(JSON.parse(String(me))).toMatchObject({ id: anna.id, email: anna.email });
  });
});
