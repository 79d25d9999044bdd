import type { AuditAction } from '@mandate/contract';
import type { Request } from 'express';
import type { EntityManager } from '../database/entity-manager/entity-manager-type.ts';
import { AuditEvent } from './audit-event.entity.ts';

/** IP address and user agent of the client that sent a request. */
export type RequestSource = { readonly ip: string | null; readonly userAgent: string | null };

export type AuditEventInput = {
  readonly action: AuditAction;
  readonly outcome?: 'success' | 'refused';
  /** The user who performed the action; absent if no user was signed in. */
  readonly actorId?: number | undefined;
  /** The user whose credentials or permissions are affected. */
  readonly userId?: number | undefined;
  readonly clientId?: string | undefined;
  /** The affected object, such as `api_key:7`. */
  readonly subject?: string | undefined;
  /** Details of the action. The details must never contain a secret or a value that looks like a secret. */
  readonly details?: Readonly<Record<string, string | number | boolean | readonly string[]>>;
};

const userAgentMax = 300;

/** Returns a request's IP address and truncated user agent. */
export const getClientAddressAndUserAgent = ({ ip, headers }: Pick<Request, 'ip' | 'headers'>): RequestSource => ({
  ip: ip ?? null,
  userAgent: headers['user-agent']?.slice(0, userAgentMax) ?? null,
});

/** Records an audit event in the transaction that makes the change, so that either both are committed or neither is. */
export async function recordAuditEvent(
  em: EntityManager,
  { ip, userAgent }: RequestSource,
  event: AuditEventInput,
  now: Date,
): Promise<void> {
  const { action, outcome = 'success', actorId, userId, clientId, subject, details = {} } = event;
  await em.insert(AuditEvent, {
    occurredAt: now,
    action,
    outcome,
    actorId: actorId ?? null,
    userId: userId ?? null,
    clientId: clientId ?? null,
    subject: subject ?? null,
    ip,
    userAgent,
    details,
  });
}
