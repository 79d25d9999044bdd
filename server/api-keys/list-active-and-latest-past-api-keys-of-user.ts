import type { InferEntity } from '@mikro-orm/core';
import { maxApiKeysPerUser, type ApiKey as ApiKeyBody, type ApiKeyLimits } from '@mandate/contract';
import { Application } from '../applications/application.entity.ts';
import type { EntityManager } from '../database/entity-manager/entity-manager-type.ts';
import { computeApiKeyStatus } from './api-key-from-entity.ts';
import { findOrderLimitsOfApiKeys } from './api-key-order-limits.ts';
import { ApiKey } from './api-key.entity.ts';

/** An API key as shown on the account pages. */
export type AccountApiKey = {
  readonly id: number;
  readonly name: string;
  readonly prefix: string;
  readonly scopes: readonly string[];
  /** Limits for orders, if any. */
  readonly limits: ApiKeyLimits | undefined;
  readonly status: ApiKeyBody['status'];
  /**
   * Name of the application that created the key, or its client ID if the application has been deleted; null for keys created before client
   * IDs were recorded.
   */
  readonly application: string | null;
  readonly createdByClientId: string | null;
  readonly createdAt: Date;
  readonly expiresAt: Date;
  readonly lastUsedAt: Date | null;
};

/** Returns a user's active API keys, newest first. */
export async function listActiveApiKeysOfUser(em: EntityManager, userId: number, now: Date): Promise<AccountApiKey[]> {
  const active = { user: userId, revokedAt: null, expiresAt: { $gt: now } };
  return withApplications(em, await em.find(ApiKey, active, { orderBy: { id: 'desc' }, disableIdentityMap: true }), now);
}

/** Returns a user's API keys: all active keys, then the latest revoked and expired keys, each group newest first. */
export async function listActiveAndLatestPastApiKeysOfUser(em: EntityManager, userId: number, now: Date): Promise<AccountApiKey[]> {
  const inactive = { user: userId, $or: [{ revokedAt: { $ne: null } }, { expiresAt: { $lte: now } }] };
  const past = await em.find(ApiKey, inactive, { orderBy: { id: 'desc' }, limit: maxApiKeysPerUser, disableIdentityMap: true });
  return [...(await listActiveApiKeysOfUser(em, userId, now)), ...(await withApplications(em, past, now))];
}

type Entity = InferEntity<typeof ApiKey>;

async function withApplications(em: EntityManager, keys: readonly Entity[], now: Date): Promise<AccountApiKey[]> {
  const clientIds = [...new Set(keys.flatMap(({ createdByClientId: id }) => id ?? []))];
  const applications =
    clientIds.length === 0 ? [] : await em.find(Application, { clientId: { $in: clientIds } }, { disableIdentityMap: true });
  const limits = await findOrderLimitsOfApiKeys(
    em,
    keys.map(({ id }) => id),
  );
  const names = new Map(applications.map(({ clientId, name }) => [clientId, name]));
  return keys.map(({ id, name, prefix, scopes, createdByClientId = null, createdAt, expiresAt, lastUsedAt = null, revokedAt = null }) => ({
    id,
    name,
    prefix,
    scopes,
    limits: limits.get(id),
    status: computeApiKeyStatus(revokedAt !== null, expiresAt, now),
    application: createdByClientId === null ? null : (names.get(createdByClientId) ?? createdByClientId),
    createdByClientId,
    createdAt,
    expiresAt,
    lastUsedAt,
  }));
}
