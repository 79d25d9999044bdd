import type { InferEntity } from '@mikro-orm/core';
import type { OrderLimitsInput } from '@mandate/contract';
import { z } from 'zod';
import { recordAuditEvent, type RequestSource } from '../../audit/record-audit-event.ts';
import type { EntityManager } from '../../database/entity-manager/entity-manager-type.ts';
import { recordEvent } from '../../events/record-event.ts';
import { findEffectiveOrderLimits } from '../../order-limits/find-effective-order-limits.ts';
import { OauthRecord } from '../storage/oauth-record.entity.ts';
import { connectedAppResponseFromFields, findApplicationsOfConnectedApps } from './connected-app-response-and-applications.ts';
import type { ConnectedAppEntity } from './connected-app.entity.ts';

type RecordedChange = {
  readonly source: RequestSource;
  /** The user who changed the limits; undefined if the application narrowed them. */
  readonly actorId: number | undefined;
  /** Client ID of the application that sent the change; undefined for a change on the account pages. */
  readonly by: string | undefined;
  /** The new limits; undefined if they were removed. */
  readonly limits: OrderLimitsInput | undefined;
};

/**
 * Records that the limits of a connected application have changed, in the audit log and as the event `grant.updated`, and adds the limits
 * to previously issued tokens. Call this after the change, in the same transaction.
 */
export async function recordLimitChangeAndUpdateTokens(
  em: EntityManager,
  app: InferEntity<typeof ConnectedAppEntity>,
  { source, actorId, by, limits }: RecordedChange,
  now: Date,
): Promise<void> {
  const { id, grantId, clientId, user: userId } = app;
  await addDetailsToIssuedTokens(em, grantId, clientId);
  const event = { action: 'connected_app.limits_changed', actorId, userId, clientId: by, subject: `connected_app:${id}` } as const;
  const details = { application: clientId, limits: limits ? JSON.stringify(limits) : 'none' };
  await recordAuditEvent(em, source, { ...event, details }, now);
  if (app.lastUsedAt == null) return; // `grant.created` is recorded when the application receives its first token
  const applications = await findApplicationsOfConnectedApps(em, [app]);
  await recordEvent(em, 'grant.updated', connectedAppResponseFromFields(app, applications.get(clientId)), userId);
}

const payloadSchema = z.record(z.unknown());

/**
 * Adds authorization details to tokens that were issued before the limits were set, because a refresh returns details only for tokens that
 * have details.
 */
async function addDetailsToIssuedTokens(em: EntityManager, grantId: string, clientId: string): Promise<void> {
  const limits = await findEffectiveOrderLimits(em, grantId, clientId);
  if (!limits) return;
  const ofGrant = { grantId, model: { $in: ['AccessToken', 'RefreshToken'] }, consumedAt: null };
  const tokens = await em.find(OauthRecord, ofGrant, { fields: ['model', 'id', 'payload'], disableIdentityMap: true });
  for (const { model, id, payload } of tokens) {
    const rar = [limits.details];
    await em.nativeUpdate(OauthRecord, { model, id }, { payload: JSON.stringify({ ...payloadSchema.parse(JSON.parse(payload)), rar }) });
  }
}
