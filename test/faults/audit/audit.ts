import { auditAccess } from './audit-access.ts';
import { auditWebhookDeliveries } from './audit-webhooks.ts';
import { auditConnections } from './audit-connections.ts';
import { auditOrders } from './audit-orders.ts';
import { Findings, type AuditOptions } from './findings.ts';
import type { Load } from '../traffic/load.ts';

/** Compares all confirmed writes with the system state, after the load has stopped. */
export async function audit(load: Load, options: AuditOptions): Promise<Findings> {
  const findings = new Findings();
  findings.unexpected.push(...load.ledger.unexpected);
  findings.wronglyAccepted.push(...load.ledger.wronglyAccepted);
  await auditOrders(load, findings, options);
  await auditWebhookDeliveries(load, findings, options);
  await auditAccess(load, findings);
  await auditConnections(load.administration.environment, findings);
  return findings;
}
