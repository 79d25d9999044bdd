import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import type { MortalServer } from '../../support/server/killable-server.ts';

/** For the environment of a server that is to be looked into. */
export const inspectable = { NODE_OPTIONS: '--inspect=127.0.0.1:0' };

export type Vitals = {
  /** Memory of the process, and what is in use of JavaScript's once the rest was collected; in MB. */
  readonly residentMb: number;
  readonly heapMb: number;
  /** How much later than planned the event loop came to things, in milliseconds. */
  readonly lagMs: { readonly p50: number; readonly p99: number };
};

const answer = z.object({ id: z.number(), result: z.unknown(), error: z.object({ message: z.string() }).optional() });
const heap = z.object({ usedSize: z.number() });
const evaluated = z.object({ result: z.object({ value: z.string() }) });
const lag = z.object({ p50: z.number(), p99: z.number() });

const measureLag = (ms: number): string => `(async () => {
  const delays = process.getBuiltinModule('node:perf_hooks').monitorEventLoopDelay({ resolution: 10 });
  delays.enable();
  await new Promise((resolve) => setTimeout(resolve, ${ms}));
  delays.disable();
  return JSON.stringify({ p50: delays.percentile(50) / 1e6 - 10, p99: delays.percentile(99) / 1e6 - 10 });
})()`;

/** How a server does: its event loop over the next `ms`, and then its memory. */
export async function vitalsOf(server: MortalServer, ms: number): Promise<Vitals> {
  const address = /ws:\/\/127\.0\.0\.1:\d+\/[\w-]+/.exec(server.output())?.[0];
  if (address === undefined) throw new Error('the server cannot be looked into');
  const socket = new WebSocket(address);
  await once(socket, 'open');
  try {
    const ask = async (id: number, method: string, params: object = {}): Promise<unknown> => {
      const { promise, resolve, reject } = Promise.withResolvers<unknown>();
      const onMessage = ({ data }: MessageEvent): void => {
        const { id: of, result, error } = answer.parse({ id: 0, ...JSON.parse(String(data)) });
        if (of !== id) return;
        socket.removeEventListener('message', onMessage);
        if (error) reject(new Error(error.message));
        else resolve(result);
      };
      socket.addEventListener('message', onMessage);
      socket.send(JSON.stringify({ id, method, params }));
      return promise;
    };
    const expression = measureLag(ms);
    const { result } = evaluated.parse(await ask(1, 'Runtime.evaluate', { expression, awaitPromise: true, returnByValue: true }));
    await ask(2, 'HeapProfiler.collectGarbage');
    const { usedSize } = heap.parse(await ask(3, 'Runtime.getHeapUsage'));
    return { residentMb: await residentMb(server), heapMb: usedSize / 1e6, lagMs: lag.parse(JSON.parse(result.value)) };
  } finally {
    socket.close();
  }
}

async function residentMb({ pid }: MortalServer): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1] ?? Number.NaN) / 1_000;
}
