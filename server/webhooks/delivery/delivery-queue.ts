import { sql } from '@mikro-orm/core';
import type { WebhookDeliveryStatus, WebhookExchange } from '@mandate/contract';
import type { EntityManager } from '../../database/entity-manager/entity-manager-type.ts';
import { secondsFromNowSql } from '../../database/time/seconds-from-now-sql.ts';
import { WebhookDelivery, WebhookEndpoint } from '../endpoints/webhook-endpoint-and-delivery.entity.ts';
import { claimDueDeliveryRows, type ClaimedDelivery, updateDeliveryAfterAttempt } from './claim-and-update-deliveries.sql.ts';

/**
 * Maximum number of deliveries to claim in total (`total`), per endpoint (`each`), and for each endpoint that already has deliveries in
 * flight (`left`).
 */
export type DeliveryCapacity = { readonly total: number; readonly each: number; readonly left: ReadonlyMap<number, number> };

/** Claims pending deliveries that are due. `after` is the ID of the most recently served endpoint. */
export const claimDueDeliveries = (em: EntityManager, after: number, { total, each, left }: DeliveryCapacity): Promise<ClaimedDelivery[]> =>
  em.transactional((inner) => claimDueDeliveryRows(inner, [after, total, each, [...left.keys()], [...left.values()]]));

export type DeliveryAttempt = {
  readonly at: Date;
  readonly milliseconds: number;
  readonly statusCode: number | null;
  readonly error: string | null;
  readonly exchange: WebhookExchange;
};

/** Records the result of an attempt. Returns false if the delivery is finished or another process has claimed it. */
export async function recordDeliveryAttempt(
  em: EntityManager,
  { delivery_id: id, attempts }: ClaimedDelivery,
  status: WebhookDeliveryStatus,
  delayMs: number,
  { at, milliseconds, statusCode, error, exchange }: DeliveryAttempt,
): Promise<boolean> {
  const entry = { at: at.toISOString(), milliseconds, status_code: statusCode, error, ...exchange };
  return (await updateDeliveryAfterAttempt(em, [id, attempts, status, delayMs, JSON.stringify([entry])])).length > 0;
}

/** Marks a delivery as skipped, which means that it has not been sent and will not be sent. */
export const markDeliverySkipped = (em: EntityManager, { delivery_id: id, attempts }: ClaimedDelivery) =>
  em.nativeUpdate(WebhookDelivery, { id, attempts, status: 'pending' }, { status: 'skipped', finishedAt: sql.now() });

/** Puts a claimed but unsent delivery back into the queue, so that another attempt is made after the delay. */
export const requeueDelivery = (em: EntityManager, { delivery_id: id, attempts }: ClaimedDelivery, delayMs: number) =>
  em.nativeUpdate(WebhookDelivery, { id, attempts, status: 'pending' }, { nextAttemptAt: secondsFromNowSql(delayMs / 1000) });

/** Marks an endpoint as failing and pauses its deliveries, if `pauseMs` is not 0. */
export const markEndpointFailingAndPause = (em: EntityManager, endpointId: number, pauseMs: number) =>
  em.nativeUpdate(
    WebhookEndpoint,
    { id: endpointId },
    { failingSince: sql`coalesce(failing_since, now())`, ...(pauseMs > 0 && { pausedUntil: secondsFromNowSql(pauseMs / 1000) }) },
  );

/** Marks an endpoint as no longer failing. */
export const markEndpointHealthy = (em: EntityManager, endpointId: number) =>
  em.nativeUpdate(WebhookEndpoint, { id: endpointId, failingSince: { $ne: null } }, { failingSince: null, pausedUntil: null });
