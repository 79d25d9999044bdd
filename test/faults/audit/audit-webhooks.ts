import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import type { Findings, Thoroughness } from './violations.ts';
import type { Load } from '../traffic/load.ts';

const entity = z.object({ id: z.number() });

/** As if the time had passed until what was begun and not ended is tried again. */
const hurryUp = `update webhook_deliveries set next_attempt_at = now() where status = 'pending' and next_attempt_at > now()`;

/** Every confirmed order is told of, under one id and with one body; that a delivery comes twice is allowed, and counted. */
export async function auditArrivals(
  { administration, ledger, arrivals }: Load,
  findings: Findings,
  { hurry }: Thoroughness,
): Promise<void> {
  const ids = [...ledger.orders.values()].map(({ text }) => entity.parse(JSON.parse(text)).id);
  const missing = (): number[] => ids.filter((id) => !arrivals.idsOfOrders.has(id));
  let hurried = !hurry;
  for (const begun = Date.now(), end = begun + 120_000; missing().length > 0 && Date.now() < end; await sleep(100)) {
    if (hurried || Date.now() - begun < 3_000) continue;
    await administration.stage.sql(hurryUp);
    hurried = true;
  }
  for (const id of missing()) findings.lost.push(`the event of order ${id}`);
  for (const [id, events] of arrivals.idsOfOrders)
    if (events.size > 1) findings.doubled.push(`the event of order ${id}: ${[...events].join(', ')}`);
  if (arrivals.changed > 0) findings.doubled.push(`${arrivals.changed} deliveries with one id and two bodies`);
  if (arrivals.again > 0) findings.notes.push(`${arrivals.again} of ${arrivals.bodies.size} deliveries came twice`);
}
