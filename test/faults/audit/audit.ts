import { auditAccess } from './audit-access.ts';
import { auditArrivals } from './audit-webhooks.ts';
import { auditConnections } from './audit-connections.ts';
import { auditOrders } from './audit-orders.ts';
import { Findings, type Thoroughness } from './violations.ts';
import type { Load } from '../traffic/load.ts';

/** Compares everything that was confirmed with what there is; to be called when nobody asks for anything any more. */
export async function audit(load: Load, thoroughness: Thoroughness): Promise<Findings> {
  const findings = new Findings();
  findings.unexpected.push(...load.ledger.unexpected);
  findings.letIn.push(...load.ledger.letIn);
  await auditOrders(load, findings, thoroughness);
  await auditArrivals(load, findings, thoroughness);
  await auditAccess(load, findings);
  await auditConnections(load.administration.stage, findings);
  return findings;
}
