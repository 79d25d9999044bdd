import type { InferEntity } from '@mikro-orm/core';
import type { Request } from 'express';
import type { Middleware } from 'koa';
import type { KoaContextWithOIDC } from 'oidc-provider';
import { z } from 'zod';
import type { EntityManager } from '../../database/entity-manager/entity-manager-type.ts';
import { oauthEndpointPaths } from '../protocol/endpoint-paths-and-audiences.ts';
import { deleteSessionsAndQueueLogoutTokens } from '../back-channel-logout/delete-sessions-and-queue-logout-tokens.ts';
import { OauthRecord } from '../storage/oauth-record.entity.ts';
import { BrowserSession } from './browser-session.entity.ts';
import { linkedAccountFromInteractionResult, type LinkedAccountOfSignIn } from './linked-account-of-sign-in.ts';
import { upsertBrowserSession } from './upsert-browser-session.sql.ts';
import { describeUserAgent } from './describe-user-agent.ts';

/**
 * Records a session's browser and time of last use, for the session list on the account pages.
 * @param signIn how the user signed in; undefined if the user was already signed in
 */
export async function recordBrowserSessionUse(
  em: EntityManager,
  uid: string,
  accountId: string,
  req: Pick<Request, 'ip' | 'headers'>,
  now: Date,
  signIn?: LinkedAccountOfSignIn,
): Promise<void> {
  const device = describeUserAgent(req.headers['user-agent']);
  const { linkedAccountId = null } = signIn ?? {};
  await upsertBrowserSession(em, [uid, Number(accountId), device, req.ip ?? null, now, linkedAccountId, signIn !== undefined]);
}

const minActivityIntervalMs = 5 * 60 * 1000;

/**
 * Records that a session was used to open an account page, at most once every five minutes, so that most page requests do not write to the
 * database.
 */
export async function recordAccountPageVisit(
  em: EntityManager,
  uid: string,
  req: Pick<Request, 'ip' | 'headers'>,
  now: Date,
): Promise<void> {
  const where = { uid, lastUsedAt: { $lt: new Date(now.getTime() - minActivityIntervalMs) } };
  if ((await em.count(BrowserSession, where)) === 0) return;
  await em.nativeUpdate(BrowserSession, where, {
    lastUsedAt: now,
    device: describeUserAgent(req.headers['user-agent']),
    ip: req.ip ?? null,
  });
}

/** Returns how the user of a session signed in, so that a replacement session can store the same information. */
export async function findLinkedAccountOfSession(em: EntityManager, uid: string): Promise<LinkedAccountOfSignIn> {
  const session = await em.findOne(BrowserSession, { uid }, { disableIdentityMap: true });
  return { linkedAccountId: session?.linkedAccountId ?? null };
}

/** Returns whether a path belongs to an authorization request, or to the request that follows a sign-in in the device flow. */
const isAuthorization = (path: string): boolean =>
  path.startsWith(oauthEndpointPaths.authorization) || path.startsWith(`${oauthEndpointPaths.code_verification}/`);

/** Creates the middleware that records, after a successful authorization request, that the session has been used. */
export const createSessionUseRecordingMiddleware =
  (em: EntityManager): Middleware =>
  async (ctx, next) => {
    await next();
    if (!isAuthorization(ctx.path) || ctx.status >= 400) return;
    const { oidc } = z.custom<KoaContextWithOIDC | { oidc: undefined }>().parse(ctx);
    const session = oidc?.session;
    if (session?.accountId === undefined) return;
    const signIn = linkedAccountFromInteractionResult(oidc?.result);
    await recordBrowserSessionUse(em, session.uid, session.accountId, z.custom<Request>().parse(ctx.req), new Date(), signIn);
  };

export type SessionSummary = {
  readonly uid: string;
  readonly device: string | null;
  readonly ip: string | null;
  readonly startedAt: Date;
  readonly lastUsedAt: Date;
};

/** Lists a user's active sessions, most recently used first. */
export async function listActiveBrowserSessionsOfUser(em: EntityManager, userId: number, now: Date): Promise<SessionSummary[]> {
  const sessions = await em.find(BrowserSession, filterActiveSessions(em, userId, now), {
    orderBy: { lastUsedAt: 'desc', uid: 'asc' },
    limit: 100,
    disableIdentityMap: true,
  });
  return sessions.map(sessionSummaryFromEntity);
}

/** Lists a user's active sessions, most recently started first. If `after` is set, the list starts after this session. */
export async function listSessionsOfUserByStart(
  em: EntityManager,
  userId: number,
  now: Date,
  after: Pick<SessionSummary, 'startedAt' | 'uid'> | undefined,
  limit: number,
): Promise<SessionSummary[]> {
  const isAfter = after && { $or: [{ startedAt: { $lt: after.startedAt } }, { startedAt: after.startedAt, uid: { $lt: after.uid } }] };
  const where = { $and: [filterActiveSessions(em, userId, now), isAfter ?? {}] };
  const options = { orderBy: { startedAt: 'desc', uid: 'desc' }, limit, disableIdentityMap: true } as const;
  return (await em.find(BrowserSession, where, options)).map(sessionSummaryFromEntity);
}

const sessionSummaryFromEntity = ({
  uid,
  device = null,
  ip = null,
  startedAt,
  lastUsedAt,
}: InferEntity<typeof BrowserSession>): SessionSummary => ({ uid, device, ip, startedAt, lastUsedAt });

export const countActiveBrowserSessionsOfUser = (em: EntityManager, userId: number, now: Date): Promise<number> =>
  em.count(BrowserSession, filterActiveSessions(em, userId, now));

function filterActiveSessions(em: EntityManager, userId: number, now: Date) {
  const activeUids = em
    .createQueryBuilder(OauthRecord)
    .select('uid')
    .where({ model: 'Session', accountId: String(userId), expiresAt: { $gt: now } });
  return { user: userId, uid: { $in: activeUids.toRaw() } };
}

/** Ends the user's sessions in all other browsers. Returns false if there are no other sessions. */
export const revokeOtherBrowserSessions = async (em: EntityManager, userId: number, currentUid: string): Promise<boolean> =>
  (await deleteSessionsAndQueueLogoutTokens(em, { exceptUid: currentUid, accountId: String(userId) })) > 0;

/** Ends one of the user's sessions. Returns false if the user has no such session. */
export const revokeBrowserSession = async (em: EntityManager, userId: number, uid: string): Promise<boolean> =>
  (await deleteSessionsAndQueueLogoutTokens(em, { uid, accountId: String(userId) })) > 0;
