import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, glob, mkdtemp, readFile, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { databaseKind } from '../../support/services/database.ts';

const root = join(import.meta.dirname, '../../..');

/** Where the runner under test keeps its servers. The account of the server must be able to get there. */
let temporary: string;
beforeEach(async () => {
  temporary = await mkdtemp(join(tmpdir(), 'mandate-runner-'));
  await chmod(temporary, 0o755);
});
afterEach(() => rm(temporary, { recursive: true, force: true }));

async function until(condition: () => Promise<boolean>): Promise<void> {
  for (let attempt = 0; attempt < 2_400; attempt++) {
    if (await condition()) return;
    await sleep(50);
  }
  throw new Error('waited for two minutes in vain');
}

/** The command lines of what runs in the directory. */
async function running(): Promise<string[]> {
  const lines = [];
  for await (const file of glob('/proc/[0-9]*/cmdline')) lines.push(await readFile(file, 'utf8').catch(() => ''));
  return lines.filter((line) => line.includes(temporary));
}

/** The last line of a server's pid file says when it takes connections. */
async function serverIsReady(): Promise<boolean> {
  for await (const file of glob(join(temporary, 'mandate-test-*/data/postmaster.pid'))) {
    if ((await readFile(file, 'utf8').catch(() => '')).includes('\nready')) return true;
  }
  return false;
}

const serverIsBeingMade = async (): Promise<boolean> => (await running()).some((line) => line.includes('initdb'));

describe.skipIf(databaseKind === 'pglite')('a test run that ends in the middle', { timeout: 180_000 }, () => {
  test.each([
    ['SIGKILL', 'its server is being made', serverIsBeingMade],
    ['SIGKILL', 'its server is running', serverIsReady],
    ['SIGTERM', 'its server is running', serverIsReady],
    ['SIGINT', 'its server is running', serverIsReady],
  ] as const)('by %s while %s leaves no process and no file behind', async (signal, _when, moment) => {
    const vitest = ['node_modules/vitest/vitest.mjs', 'run', '--project', 'postgresql', 'test/database'];
    const runner = spawn(process.execPath, vitest, { cwd: root, env: { PATH: process.env['PATH'], TMPDIR: temporary }, stdio: 'ignore' });
    const exited = once(runner, 'exit');
    await until(moment);
    expect(await running()).not.toEqual([]);
    runner.kill(signal);
    await exited;
    await until(async () => (await running()).length === 0 && (await readdir(temporary)).length === 0);
    expect([await running(), await readdir(temporary)]).toEqual([[], []]);
  });
});
