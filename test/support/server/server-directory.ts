import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/**
 * A directory for the data of a test server, gone with the server in it when `remove` is called, or this process is,
 * however it went. A shell sees to it that waits for its input to end, which it does even when this process is killed.
 * It tries more than once, because what was being made at that moment may still write.
 */
export async function serverDirectory(): Promise<{ readonly path: string; readonly remove: () => Promise<void> }> {
  const path = await mkdtemp(join(tmpdir(), 'mandate-test-'));
  const script = `
    cat >/dev/null
    while [ -e "$0" ]; do
      pid=$(head -n 1 "$0/data/postmaster.pid" 2>/dev/null)
      case "$pid" in [1-9]*) kill -QUIT "$pid" 2>/dev/null && while kill -0 "$pid" 2>/dev/null; do sleep 0.1; done ;; esac
      umount "$0/data" 2>/dev/null # where the data lies on a disk of its own
      rm -rf "$0" 2>/dev/null || sleep 0.1
    done`;
  const watcher = spawn('sh', ['-c', script, path], { stdio: ['pipe', 'ignore', 'ignore'], detached: true });
  const gone = once(watcher, 'exit');
  watcher.unref();
  const remove = async (): Promise<void> => {
    watcher.ref();
    watcher.stdin.end();
    await gone;
  };
  return { path, remove };
}
