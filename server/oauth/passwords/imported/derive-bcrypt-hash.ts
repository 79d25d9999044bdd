import { once } from 'node:events';
import { Worker } from 'node:worker_threads';

/** Derives a bcrypt hash in a worker thread, because the JavaScript implementation would block the event loop for 100 ms at a time. */
export async function deriveBcryptHash(password: string, settings: string): Promise<string> {
  const thread = new Worker(new URL('derive-bcrypt-hash-worker.ts', import.meta.url), { workerData: { password, settings }, execArgv: [] });
  const message: readonly unknown[] = await once(thread, 'message');
  return String(message[0]);
}
