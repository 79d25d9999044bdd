import { LockMode } from '@mikro-orm/core';
import { recordAuditEvent, type RequestSource } from '../audit/record-audit-event.ts';
import type { EntityManager } from '../database/entity-manager/entity-manager-type.ts';
import { waitForOrderChecksAndLockApiKeyLimits } from './api-key-order-limits.ts';
import { ApiKey } from './api-key.entity.ts';

/**
 * Selects the keys to revoke: the keys of a user, the keys created through an application, or the keys that a user created through an
 * application.
 */
export type ApiKeySelection = ({ readonly userId: number; readonly clientId?: string } | { readonly clientId: string }) & {
  /** IDs of the keys that the user keeps. */
  readonly except?: readonly number[];
  /** Restricts the selection to the key with this ID. */
  readonly id?: number;
  /** Restricts the selection to keys that were created with one of these scopes while that scope was preapproved for the application. */
  readonly preapproved?: readonly string[];
};

/** Audit data for a revocation: actor, source, client and reason. */
export type ApiKeyRevocationCause = {
  readonly source: RequestSource;
  readonly actorId: number | undefined;
  readonly clientId?: string | undefined;
  readonly reason:
    | 'revoked_by_owner'
    | 'application_removed'
    | 'application_deleted'
    | 'preapproval_withdrawn'
    | 'password_changed'
    | 'password_reset';
};

export type RevokedApiKey = { readonly id: number; readonly name: string; readonly prefix: string };

/**
 * Revokes API keys in the current transaction and records each revocation in the audit log. All code that revokes API keys calls this
 * function.
 * @param cause `undefined` when an account is being closed, because closing an account has its own audit event
 * @returns the newly revoked keys, in ascending order of their IDs
 */
export async function revokeApiKeys(
  em: EntityManager,
  selection: ApiKeySelection,
  cause: ApiKeyRevocationCause | undefined,
  now: Date,
): Promise<RevokedApiKey[]> {
  const keys = await em.find(ApiKey, selectionFilter(selection), { lockMode: LockMode.PESSIMISTIC_WRITE, orderBy: { id: 'asc' } });
  await waitForOrderChecksAndLockApiKeyLimits(
    em,
    keys.map(({ id }) => id),
  );
  for (const key of keys) key.revokedAt = now;
  await em.flush();
  if (cause) for (const { id, user } of keys) await recordRevocation(em, id, user, cause, now);
  return keys.map(({ id, name, prefix }) => ({ id, name, prefix }));
}

function selectionFilter(selection: ApiKeySelection) {
  const { id, except = [], clientId, preapproved } = selection;
  return {
    revokedAt: null,
    ...('userId' in selection && { user: selection.userId }),
    ...(clientId !== undefined && { createdByClientId: clientId }),
    ...(preapproved && { preapprovedScopes: { $overlap: [...preapproved] } }),
    ...(id !== undefined ? { id } : except.length > 0 && { id: { $nin: [...except] } }),
  };
}

async function recordRevocation(em: EntityManager, id: number, userId: number, cause: ApiKeyRevocationCause, now: Date): Promise<void> {
  const { source, actorId, clientId, reason } = cause;
  const event = { action: 'api_key.revoked', actorId, userId, clientId, subject: `api_key:${id}`, details: { reason } } as const;
  await recordAuditEvent(em, source, event, now);
}
