import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, test } from 'vitest';
import { stopProcessGroup } from '../../support/stop-process-group.ts';

/** Starts a shell with a child that prints "saved" a moment after it receives SIGTERM. */
async function startShellWithSlowChild(shellCommand: string) {
  const child = `(trap 'sleep 0.3; echo saved; exit' TERM; echo ready; while :; do sleep 0.01; done) &`;
  const shell = spawn('bash', ['-c', `${child} ${shellCommand}`], { stdio: ['ignore', 'pipe', 'pipe'], detached: true });
  let output = '';
  shell.stdout.on('data', (chunk) => (output += String(chunk)));
  shell.stderr.resume();
  await once(shell.stdout, 'data');
  return { shell, output: () => output };
}

test('waits for a child of the process, too', async () => {
  const { shell, output } = await startShellWithSlowChild('wait');
  await stopProcessGroup(shell);
  expect(output()).toBe('ready\nsaved\n');
});

test('stops the children of a process that has already exited', async () => {
  const { shell, output } = await startShellWithSlowChild('exit');
  if (shell.exitCode === null) await once(shell, 'exit');
  await stopProcessGroup(shell);
  expect(output()).toBe('ready\nsaved\n');
});

test('returns at once if all processes have ended', async () => {
  const shell = spawn('true', { stdio: ['ignore', 'pipe', 'pipe'], detached: true });
  for (const stream of [shell.stdout, shell.stderr]) stream.resume();
  await once(shell, 'close');
  await expect(stopProcessGroup(shell)).resolves.toBeUndefined();
});
