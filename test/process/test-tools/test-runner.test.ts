import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, glob, mkdtemp, readFile, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { databaseKind } from '../../support/services/database.ts';
import { waitUntil } from '../../support/wait-until.ts';

const root = join(import.meta.dirname, '../../..');

/** The test runner's temporary directory, which must be readable by the user that runs PostgreSQL. */
let temporary: string;
beforeEach(async () => {
  temporary = await mkdtemp(join(tmpdir(), 'mandate-runner-'));
  await chmod(temporary, 0o755);
});
afterEach(() => rm(temporary, { recursive: true, force: true }));

/** Returns all process command lines that contain the temporary directory. */
async function runningCommands(): Promise<string[]> {
  const lines = [];
  for await (const file of glob('/proc/[0-9]*/cmdline')) lines.push(await readFile(file, 'utf8').catch(() => ''));
  return lines.filter((line) => line.includes(temporary));
}

/** Returns whether a PostgreSQL server accepts connections, according to the last line of its PID file. */
async function isPostgresqlReady(): Promise<boolean> {
  for await (const file of glob(join(temporary, 'mandate-test-*/data/postmaster.pid'))) {
    if ((await readFile(file, 'utf8').catch(() => '')).includes('\nready')) return true;
  }
  return false;
}

const isInitdbRunning = async (): Promise<boolean> => (await runningCommands()).some((line) => line.includes('initdb'));

describe.skipIf(databaseKind === 'pglite')('an interrupted test run', { timeout: 180_000 }, () => {
  test.each([
    ['SIGKILL', 'initdb runs', isInitdbRunning],
    ['SIGKILL', 'PostgreSQL runs', isPostgresqlReady],
    ['SIGTERM', 'PostgreSQL runs', isPostgresqlReady],
    ['SIGINT', 'PostgreSQL runs', isPostgresqlReady],
  ] as const)('by %s while %s leaves no process and no file', async (signal, _when, condition) => {
    const vitest = ['node_modules/vitest/vitest.mjs', 'run', '--project', 'postgresql', 'test/database'];
    const runner = spawn(process.execPath, vitest, { cwd: root, env: { PATH: process.env['PATH'], TMPDIR: temporary }, stdio: 'ignore' });
    const exited = once(runner, 'exit');
    await waitUntil(condition);
    expect(await runningCommands()).not.toEqual([]);
    runner.kill(signal);
    await exited;
    await waitUntil(async () => (await runningCommands()).length === 0 && (await readdir(temporary)).length === 0);
    expect([await runningCommands(), await readdir(temporary)]).toEqual([[], []]);
  });
});
