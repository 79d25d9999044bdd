import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import type { KillableServer } from '../../support/server/killable-server.ts';

/** Environment variables that let `measureProcess` inspect a server. */
export const inspectorVariables = { NODE_OPTIONS: '--inspect=127.0.0.1:0' };

export type ProcessMeasurement = {
  /** Resident memory and used JavaScript heap (after garbage collection), in MB. */
  readonly residentMb: number;
  readonly heapMb: number;
  /** Event loop delay, in milliseconds. */
  readonly eventLoopDelayMs: { readonly p50: number; readonly p99: number };
};

const messageSchema = z.object({ id: z.number(), result: z.unknown(), error: z.object({ message: z.string() }).optional() });
const heap = z.object({ usedSize: z.number() });
const evaluationSchema = z.object({ result: z.object({ value: z.string() }) });
const eventLoopDelay = z.object({ p50: z.number(), p99: z.number() });

const eventLoopDelayScript = (ms: number): string => `(async () => {
  const delays = process.getBuiltinModule('node:perf_hooks').monitorEventLoopDelay({ resolution: 10 });
  delays.enable();
  await new Promise((resolve) => setTimeout(resolve, ${ms}));
  delays.disable();
  return JSON.stringify({ p50: delays.percentile(50) / 1e6 - 10, p99: delays.percentile(99) / 1e6 - 10 });
})()`;

/** Measures a server's event loop delay for `ms` milliseconds, and then its memory use. */
export async function measureProcess(server: KillableServer, ms: number): Promise<ProcessMeasurement> {
  const address = /ws:\/\/127\.0\.0\.1:\d+\/[\w-]+/.exec(server.output())?.[0];
  if (address === undefined) throw new Error('the server was started without the inspector');
  const socket = new WebSocket(address);
  await once(socket, 'open');
  try {
    const sendRequest = async (id: number, method: string, params: object = {}): Promise<unknown> => {
      const { promise, resolve, reject } = Promise.withResolvers<unknown>();
      const onMessage = ({ data }: MessageEvent): void => {
        const { id: of, result, error } = messageSchema.parse({ id: 0, ...JSON.parse(String(data)) });
        if (of !== id) return;
        socket.removeEventListener('message', onMessage);
        if (error) reject(new Error(error.message));
        else resolve(result);
      };
      socket.addEventListener('message', onMessage);
      socket.send(JSON.stringify({ id, method, params }));
      return promise;
    };
    const expression = eventLoopDelayScript(ms);
    const { result } = evaluationSchema.parse(
      await sendRequest(1, 'Runtime.evaluate', { expression, awaitPromise: true, returnByValue: true }),
    );
    await sendRequest(2, 'HeapProfiler.collectGarbage');
    const { usedSize } = heap.parse(await sendRequest(3, 'Runtime.getHeapUsage'));
    return {
      residentMb: await residentMb(server),
      heapMb: usedSize / 1e6,
      eventLoopDelayMs: eventLoopDelay.parse(JSON.parse(result.value)),
    };
  } finally {
    socket.close();
  }
}

async function residentMb({ pid }: KillableServer): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1] ?? Number.NaN) / 1_000;
}
