import { type FilterQuery, LockMode } from '@mikro-orm/core';
import { recordAuditEvent, type RequestSource } from '../audit/record-audit-event.ts';
import type { EntityManager } from '../database/entity-manager/entity-manager-type.ts';
import { Application, registrationMethodsWithoutApproval } from '../applications/application.entity.ts';
import { deleteApplicationAndRevokeGrantsAndKeys } from './delete-application.ts';

const batch = 100;
const dayMs = 24 * 60 * 60 * 1000;
/** Number of days after which every grant has expired (`tokenAndSessionLifetimesInSeconds.grant`). */
const unusedDaysMax = 90;

const backgroundSource: RequestSource = { ip: null, userAgent: null };

/**
 * Deletes one batch of self-registered applications whose last consent is more than 90 days old, or that are more than a day old and have
 * never received consent. Disabled applications are kept, so that they stay blocked. Returns the number of deleted applications; call this
 * function again until it returns 0.
 */
export async function deleteUnusedSelfRegisteredAppsBatch(em: EntityManager, now: Date): Promise<number> {
  const [dayAgo, longAgo] = [new Date(now.getTime() - dayMs), new Date(now.getTime() - unusedDaysMax * dayMs)];
  const unused = { $or: [{ lastConsentAt: null, createdAt: { $lt: dayAgo } }, { lastConsentAt: { $lt: longAgo } }] };
  const selfRegistered = { registration: { $in: [...registrationMethodsWithoutApproval] }, status: 'active' } as const;
  const found = await em
    .fork()
    .find(Application, { ...selfRegistered, ...unused }, { fields: ['id'], orderBy: { id: 'asc' }, limit: batch });
  for (const { id } of found) await em.fork().transactional((inner) => deleteIfUnused(inner, id, unused, now));
  return found.length;
}

/**
 * Locks an application and deletes it if it is still unused. After the batch was selected, a user may have given consent, or another
 * process may have deleted the application.
 */
async function deleteIfUnused(em: EntityManager, id: number, unused: FilterQuery<Application>, now: Date): Promise<void> {
  const filter: FilterQuery<Application> = { $and: [{ id }, unused] };
  if (!(await em.findOne(Application, filter, { lockMode: LockMode.PESSIMISTIC_WRITE }))) return;
  const clientId = await deleteApplicationAndRevokeGrantsAndKeys(em, id, { source: backgroundSource, actorId: undefined }, now);
  const event = { action: 'application.deleted', subject: `application:${clientId}`, details: { reason: 'unused' } } as const;
  await recordAuditEvent(em, backgroundSource, event, now);
}
