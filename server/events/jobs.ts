import type { Job } from '../background.ts';
import type { Database, Em } from '../database/orm.ts';
import { type OnPlaced, sequenceEvents } from './sequence-events.ts';
import { sweepEvents } from './sweep-events.ts';

/**
 * Gives events their places soon after they happened, and forgets them when their time is over.
 * @param placed called once there are new places, after the commit
 */
export const eventJobs = ({ em }: Database, onPlaced: OnPlaced, placed: () => Promise<void>): Job[] => [
  { name: 'events', everyMs: 50, run: async () => (await sequenceEvents(em.fork(), onPlaced)) > 0 && placed() },
  { name: 'old events', everyMs: 3_600_000, run: (signal) => sweepAll(em, signal) },
];

async function sweepAll(em: Em, signal: AbortSignal): Promise<void> {
  while (!signal.aborted && (await sweepEvents(em.fork(), new Date())) > 0);
}
