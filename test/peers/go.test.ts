import { execFile, spawnSync } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { expectSignOut, signInWithClientProgram } from './client-program.ts';
import { useServer } from '../support/server/use-server.ts';

/** Debian's Go is too old for current modules. */
const [, minor = '0'] = / go1\.(\d+)/.exec(spawnSync('go', ['version'], { encoding: 'utf8' }).stdout ?? '') ?? [];
const isGoInstalled = Number(minor) >= 26;

describe.skipIf(!isGoInstalled)('go-oidc with golang.org/x/oauth2', () => {
  const server = useServer();
  let directory: string;
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'mandate-go-'));
    await promisify(execFile)('go', ['build', '-o', join(directory, 'client'), '.'], { cwd: join(import.meta.dirname, 'go-client') });
  }, 180_000);
  afterAll(() => rm(directory, { recursive: true, force: true }));

  test('signs a user in, checks the ID token, refreshes the tokens, reads the user, and signs out', async () => {
    const { user, output } = await signInWithClientProgram(server, [join(directory, 'client')]);
    expect(output).toMatchObject({ id: user.id, email: user.email });
    await expectSignOut(user, output.sign_out);
  });
});
