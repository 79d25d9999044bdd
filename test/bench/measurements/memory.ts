import { setTimeout as sleep } from 'node:timers/promises';
import type { Candidate } from '../servers/server-under-test.ts';
import { readOrder } from '../cases.ts';
import type { Check } from '../report/threshold.ts';
import { fire } from './measure.ts';
import type { Settings } from './rates.ts';
import type { Stage } from '../servers/environment.ts';
import type { Traffic } from '../traffic.ts';

const sampleMs = 100;
/** Until what a start leaves behind has settled, at most. */
const idleMs = 2_000;

/** Both servers new, idle, and then while orders are read from them: the most of many looks, which the system may not take back so soon. */
export async function measureMemory(stage: Stage, settings: Settings, report: (doing: string) => void): Promise<Check[]> {
  const traffic = await readOrder(await stage.target('mandate'));
  const mandate = await memoryOf('mandate', stage, traffic, settings, report);
  const fastify = await memoryOf('fastify', stage, traffic, settings, report);
  return [
    {
      name: 'memory',
      title: 'resident memory under load, one process, beside the Fastify peer’s',
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

async function memoryOf(
  name: 'mandate' | 'fastify',
  stage: Stage,
  traffic: Traffic,
  { rounds, seconds, connections }: Settings,
  report: (doing: string) => void,
): Promise<{ idleMb: number; loadedMb: number }> {
  report(`memory: ${name}`);
  const candidate = await stage.start(name);
  try {
    await sleep(Math.min(idleMs, seconds * 1000));
    const idleMb = await candidate.memoryMb();
    const over = new AbortController();
    const most = highest(candidate, over.signal);
    for (let round = 0; round < rounds; round += 1) await fire(candidate.origin, traffic, connections, seconds);
    over.abort();
    return { idleMb, loadedMb: await most };
  } finally {
    await candidate.stop();
  }
}

async function highest(candidate: Candidate, over: AbortSignal): Promise<number> {
  let most = 0;
  do {
    most = Math.max(most, await candidate.memoryMb());
    await sleep(sampleMs);
  } while (!over.aborted);
  return most;
}
