import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { Readable } from 'node:stream';

/**
 * Sends a signal to a process that was spawned with `detached: true` and to its descendants, and waits until all of them have ended. The
 * first process can end before its descendants: `npm start` ends while the server still writes to its database. This
 * function therefore waits until no process holds the write ends of stdout and stderr. Both must be pipes that the caller reads.
 */
export async function stopProcessGroup(child: ChildProcess, signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
  const outputs = [child.stdout, child.stderr].filter((output) => output instanceof Readable);
  const ended = Promise.all(outputs.filter(({ closed }) => !closed).map((output) => once(output, 'close')));
  const isRunning = child.exitCode === null && child.signalCode === null;
  const exited = isRunning ? once(child, 'exit') : undefined;
  if (child.pid !== undefined) signalGroup(child.pid, signal);
  await Promise.all([exited, ended]);
}

function signalGroup(processGroupId: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-processGroupId, signal);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error; // all processes of the group have ended
  }
}
