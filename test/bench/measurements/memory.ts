import { setTimeout as sleep } from 'node:timers/promises';
import type { MeasuredServer } from '../servers/measured-server.ts';
import { readOwnOrdersTraffic } from '../cases/api-traffic.ts';
import type { Check } from './check.ts';
import { measureThroughput } from './run-load.ts';
import type { Settings } from './rates.ts';
import type { BenchmarkEnvironment } from '../servers/benchmark-environment.ts';
import type { Traffic } from '../load-generator/traffic.ts';

const sampleMs = 100;
/** Time that memory use needs to settle after startup. */
const idleMs = 2_000;

/**
 * Measures both servers' memory use when idle, and their peak memory use while clients read. Starts new servers, because a running server
 * returns freed memory to the operating system only after a delay.
 */
export async function measureMemory(
  environment: BenchmarkEnvironment,
  settings: Settings,
  report: (progress: string) => void,
): Promise<Check[]> {
  const traffic = await readOwnOrdersTraffic(await environment.target('mandate'));
  const mandate = await measureServerMemory('mandate', environment, traffic, settings, report);
  const fastify = await measureServerMemory('fastify', environment, traffic, settings, report);
  return [
    {
      name: 'memory',
      title: 'resident memory under load, one process, compared with Fastify',
      value: mandate.loadedMb / fastify.loadedMb,
      unit: 'x',
      goal: { atMost: 1.5 },
      parts: { 'MB, mandate': mandate.loadedMb, 'MB, fastify': fastify.loadedMb },
    },
    {
      name: 'memory-idle',
      title: 'resident memory, idle',
      value: mandate.idleMb,
      unit: 'MB',
      parts: { 'MB, fastify': fastify.idleMb },
    },
  ];
}

async function measureServerMemory(
  name: 'mandate' | 'fastify',
  environment: BenchmarkEnvironment,
  traffic: Traffic,
  { rounds, seconds, connections }: Settings,
  report: (progress: string) => void,
): Promise<{ idleMb: number; loadedMb: number }> {
  report(`memory: ${name}`);
  const measuredServer = await environment.start(name);
  try {
    await sleep(Math.min(idleMs, seconds * 1000));
    const idleMb = await measuredServer.memoryMb();
    const stopped = new AbortController();
    const peak = trackPeakMemory(measuredServer, stopped.signal);
    for (let round = 0; round < rounds; round += 1) await measureThroughput(measuredServer.origin, traffic, connections, seconds);
    stopped.abort();
    return { idleMb, loadedMb: await peak };
  } finally {
    await measuredServer.stop();
  }
}

async function trackPeakMemory(measuredServer: MeasuredServer, stopped: AbortSignal): Promise<number> {
  let peak = 0;
  do {
    peak = Math.max(peak, await measuredServer.memoryMb());
    await sleep(sampleMs);
  } while (!stopped.aborted);
  return peak;
}
