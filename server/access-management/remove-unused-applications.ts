import { type FilterQuery, LockMode } from '@mikro-orm/core';
import { recordAuditEvent, type Source } from '../audit/record-audit-event.ts';
import type { Em } from '../database/entity-manager/entity-manager.ts';
import { Application, selfRegistrations } from '../applications/application.entity.ts';
import { deleteApplication } from './delete-application.ts';

const batch = 100;
const dayMs = 24 * 60 * 60 * 1000;
/** Every grant has expired by then (`lifetimes.grant`). */
const unusedDaysMax = 90;

const background: Source = { ip: null, userAgent: null };

/**
 * Removes one batch of self-registered applications that have no users: without consent within a day, or 90 days after the last one. A
 * disabled application stays, so that it stays blocked. Returns how many were removed; call it again while there are more.
 */
export async function removeUnusedApplications(em: Em, now: Date): Promise<number> {
  const [dayAgo, longAgo] = [new Date(now.getTime() - dayMs), new Date(now.getTime() - unusedDaysMax * dayMs)];
  const unused = { $or: [{ lastConsentAt: null, createdAt: { $lt: dayAgo } }, { lastConsentAt: { $lt: longAgo } }] };
  const selfRegistered = { registration: { $in: [...selfRegistrations] }, status: 'active' } as const;
  const found = await em
    .fork()
    .find(Application, { ...selfRegistered, ...unused }, { fields: ['id'], orderBy: { id: 'asc' }, limit: batch });
  for (const { id } of found) await em.fork().transactional((inner) => remove(inner, id, unused, now));
  return found.length;
}

/** Checks again under a lock: a user may have consented since, or another process may have removed the application. */
async function remove(em: Em, id: number, unused: FilterQuery<Application>, now: Date): Promise<void> {
  const filter: FilterQuery<Application> = { $and: [{ id }, unused] };
  if (!(await em.findOne(Application, filter, { lockMode: LockMode.PESSIMISTIC_WRITE }))) return;
  const clientId = await deleteApplication(em, id, { source: background, actorId: undefined }, now);
  const event = { action: 'application.deleted', subject: `application:${clientId}`, details: { reason: 'unused' } } as const;
  await recordAuditEvent(em, background, event, now);
}
