import type { Request } from 'express';
import type { Middleware } from 'koa';
import type { KoaContextWithOIDC } from 'oidc-provider';
import { z } from 'zod';
import type { EntityManager } from '../../database/entity-manager/entity-manager.ts';
import { prepareStatement } from '../../database/queries/prepared-statement.ts';
import { describeUserAgent } from './user-agent-label.ts';
import { endpointPaths } from '../protocol/endpoints.ts';

const upsertSession = prepareStatement(
  'record_browser_session_use',
  `insert into browser_sessions (uid, user_id, device, ip, started_at, last_used_at) values ($1, $2, $3, $4, $5, $5)
   on conflict (uid) do update set user_id = excluded.user_id, device = excluded.device, ip = excluded.ip, last_used_at = excluded.last_used_at`,
);

/** Records a session's browser and time of last use, for the session list on the account pages. */
export async function recordSessionUse(
  em: EntityManager,
  uid: string,
  accountId: string,
  req: Pick<Request, 'ip' | 'headers'>,
  now: Date,
): Promise<void> {
  await upsertSession(em, [uid, Number(accountId), describeUserAgent(req.headers['user-agent']), req.ip ?? null, now]);
}

/** Records the use of a session by an authorization request, after the response. */
export const trackSessionUse =
  (em: EntityManager): Middleware =>
  async (ctx, next) => {
    await next();
    if (!ctx.path.startsWith(endpointPaths.authorization) || ctx.status >= 400) return;
    const session = z.custom<KoaContextWithOIDC | { oidc: undefined }>().parse(ctx).oidc?.session;
    if (session?.accountId === undefined) return;
    await recordSessionUse(em, session.uid, session.accountId, z.custom<Request>().parse(ctx.req), new Date());
  };

export type SessionSummary = { uid: string; device: string | null; startedAt: Date };
type Row = { uid: string; device: string | null; started_at: string };

const findSessions = prepareStatement<Row>(
  'list_browser_sessions',
  `select b.uid, b.device, b.started_at from browser_sessions b
   join oauth_records s on s.model = 'Session' and s.uid = b.uid and s.account_id = b.user_id::text and s.expires_at > $2
   where b.user_id = $1 order by b.started_at desc, b.uid limit 100`,
);
const deleteSession = prepareStatement<{ uid: string }>(
  'delete_browser_session',
  `delete from oauth_records where model = 'Session' and uid = $1 and account_id = $2 returning uid`,
);

/** Lists a user's active sessions, newest first. */
export const listSessions = async (em: EntityManager, userId: number, now: Date): Promise<SessionSummary[]> =>
  (await findSessions(em, [userId, now])).map(({ uid, device, started_at: startedAt }) => ({
    uid,
    device,
    startedAt: new Date(startedAt),
  }));

/** Deletes one of the user's sessions. Returns false if the user has no such session. */
export const revokeSession = async (em: EntityManager, userId: number, uid: string): Promise<boolean> =>
  (await deleteSession(em, [uid, String(userId)])).length > 0;
