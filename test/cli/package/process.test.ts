import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { startStubServer } from '../../sdk/stub-server.ts';
import { spawnCommand } from '../run-command-line.ts';

const main = join(import.meta.dirname, '../../../cli/main.ts');

describe('the process', () => {
  test('exits with code 0 if the reader closes the pipe', async () => {
    await using server = await startStubServer(() => ({
      body: { data: Array.from({ length: 100 }, (_, id) => ({ id, name: 'x'.repeat(2000) })), has_more: true, next_cursor: null },
    }));
    const script = `"$0" "$1" products list --json | head -c 10; exit "\${PIPESTATUS[0]}"`;
    const shell = spawn('bash', ['-c', script, process.execPath, main], {
      env: { MANDATE_API_URL: server.url, PATH: '/usr/bin:/bin' },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let [stdout, stderr] = ['', ''];
    shell.stdout.on('data', (chunk) => (stdout += String(chunk)));
    shell.stderr.on('data', (chunk) => (stderr += String(chunk)));
    await once(shell, 'close');
    expect({ stdout, stderr, exitCode: shell.exitCode }).toEqual({ stdout: '{"data":[{', stderr: '', exitCode: 0 });
  });

  test('exits with code 130 if Ctrl-C interrupts a request', async () => {
    let arrived: () => void = () => undefined;
    const waiting = new Promise<void>((resolve) => (arrived = resolve));
    await using server = await startStubServer(() => {
      arrived();
      return { body: {}, delayMs: 10_000 };
    });
    const command = spawnCommand(['orders', 'get', '1'], { MANDATE_API_URL: server.url, MANDATE_TOKEN: 'x' });
    await waiting;
    command.child.kill('SIGINT');
    expect(await command.exited).toMatchObject({ exitCode: 130, stdout: '' });
  });

  test('writes a large response completely to a pipe', async () => {
    const data = Array.from({ length: 100 }, (_, id) => ({ id, description: 'é'.repeat(5000) }));
    await using server = await startStubServer(() => ({ body: { data, has_more: false, next_cursor: null } }));
    const { stdout, exitCode } = await spawnCommand(['products', 'list', '--json'], { MANDATE_API_URL: server.url }).exited;
    expect(exitCode).toBe(0);
    expect(JSON.parse(stdout).data).toEqual(data);
  });
});
