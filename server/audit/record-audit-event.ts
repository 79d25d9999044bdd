import type { AuditAction } from '@mandate/contract';
import type { Request } from 'express';
import type { Em } from '../database/entity-manager/entity-manager.ts';
import { statement } from '../database/queries/prepared-statement.ts';

/** From where something was done. */
export type Source = { readonly ip: string | null; readonly userAgent: string | null };

export type AuditRecord = {
  readonly action: AuditAction;
  readonly outcome?: 'success' | 'refused';
  /** Who did it; left out when nobody had signed in. */
  readonly actorId?: number | undefined;
  /** Whose credentials or permissions it was about. */
  readonly userId?: number | undefined;
  readonly clientId?: string | undefined;
  /** `api_key:7` */
  readonly subject?: string | undefined;
  /** Never a secret, nor anything that somebody could take for one. */
  readonly details?: Readonly<Record<string, string | number | boolean | readonly string[]>>;
};

const userAgentMax = 300;

export const sourceOf = ({ ip, headers }: Pick<Request, 'ip' | 'headers'>): Source => ({
  ip: ip ?? null,
  userAgent: headers['user-agent']?.slice(0, userAgentMax) ?? null,
});

const insertAuditEvent = statement(
  'insert_audit_event',
  `insert into audit_events (occurred_at, action, outcome, actor_id, user_id, client_id, subject, ip, user_agent, details)
   values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10::jsonb)`,
);

/** Writes down what happened, in the transaction of the act: both are there, or neither. */
export async function recordAuditEvent(em: Em, { ip, userAgent }: Source, event: AuditRecord, now: Date): Promise<void> {
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
