import type { AuditAction } from '@mandate/contract';
import type { Request } from 'express';
import type { EntityManager } from '../database/entity-manager/entity-manager.ts';
import { prepareStatement } from '../database/queries/prepared-statement.ts';

/** Origin of a request. */
export type RequestSource = { readonly ip: string | null; readonly userAgent: string | null };

export type AuditEventInput = {
  readonly action: AuditAction;
  readonly outcome?: 'success' | 'refused';
  /** The user who acted; absent if no user was signed in. */
  readonly actorId?: number | undefined;
  /** The user whose credentials or permissions are concerned. */
  readonly userId?: number | undefined;
  readonly clientId?: string | undefined;
  /** The affected object, such as `api_key:7`. */
  readonly subject?: string | undefined;
  /** Must never contain a secret or a value that looks like one. */
  readonly details?: Readonly<Record<string, string | number | boolean | readonly string[]>>;
};

const userAgentMax = 300;

/** Returns the IP address and the truncated user agent of a request. */
export const getRequestSource = ({ ip, headers }: Pick<Request, 'ip' | 'headers'>): RequestSource => ({
  ip: ip ?? null,
  userAgent: headers['user-agent']?.slice(0, userAgentMax) ?? null,
});

const insertAuditEvent = prepareStatement(
  'insert_audit_event',
  `insert into audit_events (occurred_at, action, outcome, actor_id, user_id, client_id, subject, ip, user_agent, details)
   values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10::jsonb)`,
);

/** Records an audit event in the transaction of the change, so that both are committed or neither. */
export async function recordAuditEvent(
  em: EntityManager,
  { ip, userAgent }: RequestSource,
  event: AuditEventInput,
  now: Date,
): Promise<void> {
  const { action, outcome = 'success', actorId, userId, clientId, subject, details = {} } = event;
  await insertAuditEvent(em, [
    now,
    action,
    outcome,
    actorId ?? null,
    userId ?? null,
    clientId ?? null,
    subject ?? null,
    ip,
    userAgent,
    JSON.stringify(details),
  ]);
}
