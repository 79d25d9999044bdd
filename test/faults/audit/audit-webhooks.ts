import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import type { Findings, AuditOptions } from './findings.ts';
import type { Load } from '../traffic/load.ts';

const entity = z.object({ id: z.number() });

/** Makes pending deliveries due now, as if their leases had expired. */
const expireDeliveryLeasesSql = `update webhook_deliveries set next_attempt_at = now() where status = 'pending' and next_attempt_at > now()`;

/**
 * Checks that every confirmed order has been reported by webhook, always with the same event ID and body. Repeated deliveries are
 * allowed and counted.
 */
export async function auditWebhookDeliveries(
  { administration, ledger, deliveries }: Load,
  findings: Findings,
  { expireLeases }: AuditOptions,
): Promise<void> {
  const ids = [...ledger.orders.values()].map(({ text }) => entity.parse(JSON.parse(text)).id);
  const missing = (): number[] => ids.filter((id) => !deliveries.eventIdsByOrder.has(id));
  let leasesExpired = !expireLeases;
  for (const begun = Date.now(), end = begun + 120_000; missing().length > 0 && Date.now() < end; await sleep(100)) {
    if (leasesExpired || Date.now() - begun < 1_000) continue;
    await administration.environment.sql(expireDeliveryLeasesSql);
    leasesExpired = true;
  }
  for (const id of missing()) findings.lost.push(`the event of order ${id}`);
  for (const [id, events] of deliveries.eventIdsByOrder)
    if (events.size > 1) findings.duplicated.push(`the event of order ${id}: ${[...events].join(', ')}`);
  if (deliveries.changedBodies > 0) findings.duplicated.push(`${deliveries.changedBodies} deliveries with one id and two bodies`);
  if (deliveries.repeated > 0)
    findings.notes.push(
      `${deliveries.repeated} of ${deliveries.bodies.size} deliveries ${deliveries.repeated === 1 ? 'was' : 'were'} repeated`,
    );
}
