import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/**
 * Creates a test server's data directory. A shell process waits until its standard input is closed, which happens when `remove` is called
 * or when this process exits, even after SIGKILL. The shell then stops the server and removes the directory. The shell retries the removal,
 * because a server that is still starting can write files.
 */
export async function createServerDirectory(): Promise<{ readonly path: string; readonly remove: () => Promise<void> }> {
  const path = await mkdtemp(join(tmpdir(), 'mandate-test-'));
  const script = `
    cat >/dev/null
    while [ -e "$0" ]; do
      pid=$(head -n 1 "$0/data/postmaster.pid" 2>/dev/null)
      case "$pid" in [1-9]*) kill -QUIT "$pid" 2>/dev/null && while kill -0 "$pid" 2>/dev/null; do sleep 0.1; done ;; esac
      umount "$0/data" 2>/dev/null # if the data directory is a mount point
      rm -rf "$0" 2>/dev/null || sleep 0.1
    done`;
  const watcher = spawn('sh', ['-c', script, path], { stdio: ['pipe', 'ignore', 'ignore'], detached: true });
  const exited = once(watcher, 'exit');
  watcher.unref();
  const remove = async (): Promise<void> => {
    watcher.ref();
    watcher.stdin.end();
    await exited;
  };
  return { path, remove };
}
