import type { AuditEvent } from '@mandate/client-sdk';
import { useQuery } from '@tanstack/react-query';
import { apiClient, keyOf } from '../../../api/client.ts';

/** A customer's consent to an application. */
export type Grant = {
  readonly userId: number;
  readonly clientId: string;
  /** When the customer last gave consent. */
  readonly grantedAt: string;
  /** When the access was revoked, if it was revoked after the last consent. */
  readonly removedAt: string | undefined;
  readonly scopes: readonly string[];
};

/** Maximum number of audit events that are read. */
const maxEvents = 1_000;

type Grants = { readonly grants: readonly Grant[]; readonly isComplete: boolean };

/** Reads the grants from the audit log, because the API lists only the grants of the signed-in user. */
export function useGrantsFromAuditLog() {
  return useQuery({
    queryKey: [...keyOf('auditEvents'), 'grants'],
    queryFn: async ({ signal }): Promise<Grants> => {
      const events: AuditEvent[] = [];
      const query = { action: ['consent.granted', 'connected_app.removed'], outcome: 'success', limit: 100 } as const;
      for await (const event of apiClient.auditEvents.list({ ...query, action: [...query.action] }, { signal })) {
        if (events.length === maxEvents) return { grants: listGrants(events), isComplete: false };
        events.push(event);
      }
      return { grants: listGrants(events), isComplete: true };
    },
  });
}

/** Returns the grants that the events describe, with the newest consent first. The events must be sorted newest first. */
function listGrants(events: readonly AuditEvent[]): Grant[] {
  const grants = new Map<string, Grant>();
  for (const event of events.toReversed()) {
    const userId = event.user_id;
    const application = event.action === 'consent.granted' ? event.client_id : event.details['application'];
    if (userId === null || typeof application !== 'string') continue;
    const key = `${userId} ${application}`;
    const before = grants.get(key);
    if (event.action === 'consent.granted')
      grants.set(key, { userId, clientId: application, grantedAt: event.occurred_at, removedAt: undefined, scopes: scopesOf(event) });
    else if (before) grants.set(key, { ...before, removedAt: event.occurred_at });
  }
  return [...grants.values()].toSorted((a, b) => b.grantedAt.localeCompare(a.grantedAt));
}

function scopesOf({ details }: AuditEvent): string[] {
  const scopes = details['scopes'];
  return Array.isArray(scopes) ? scopes.filter((scope) => typeof scope === 'string') : [];
}
