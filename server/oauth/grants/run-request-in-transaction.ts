import type { Context, Middleware } from 'koa';
import type { KoaContextWithOIDC } from 'oidc-provider';
import { z } from 'zod';
import type { EntityManager } from '../../database/entity-manager/entity-manager-type.ts';
import { markAssertionUsedAfterRollback } from '../clients/validate-client-assertion-and-load-keys.ts';
import { oauthEndpointPaths } from '../protocol/endpoint-paths-and-audiences.ts';
import { getOauthRequestContext } from '../protocol/oauth-request-context.ts';
import { auditTokenReuse } from './audit-token-reuse.ts';
import { deleteRevokedGrantDataAndRecordEvents } from './delete-apps-and-limits-of-revoked-grants.ts';

/** Thrown after an error response, to roll the transaction back. */
class RollbackSignal extends Error {}

const providerContext = z.custom<KoaContextWithOIDC>();

/**
 * Listener for `grant.revoked` that stores the ID of the revoked grant. A request that reuses a code or token is rejected, but the
 * revocation of its grant is committed and audited.
 */
export function setRevokedGrantIdOfRequest({ req }: Pick<KoaContextWithOIDC, 'req'>, grantId: string): void {
  getOauthRequestContext(req).revokedGrantId = grantId;
}

const { authorization, code_verification: deviceCode, end_session: endSession, revocation, token } = oauthEndpointPaths;
/** POST endpoints that consume a code or a token, or that end a session and queue its logout tokens. */
const consumingEndpoints = new Set<string>([token, revocation, deviceCode, `${endSession}/confirm`]);

const needsTransaction = ({ method, path, query }: Context): boolean => {
  if (method === 'POST') return consumingEndpoints.has(path);
  const resumesInteraction = path.startsWith(`${authorization}/`) || path.startsWith(`${deviceCode}/`);
  return resumesInteraction || (path === authorization && query['request_uri'] !== undefined); // a pushed request can be used only once
};

/**
 * Runs a request that consumes a code, a token, an interaction or a session in one transaction. The transaction commits if the request
 * succeeds or revokes a grant. Otherwise, it rolls back, so that a rejected or failed request leaves the code unused (required by FAPI
 * 2.0).
 */
export const runRequestInTransaction =
  (em: EntityManager): Middleware =>
  async (ctx, next) => {
    if (!needsTransaction(ctx)) {
      await next();
      return;
    }
    try {
      await em.transactional(async () => {
        await next();
        const { revokedGrantId } = getOauthRequestContext(ctx.req);
        if (ctx.status >= 400 && revokedGrantId === undefined) throw new RollbackSignal();
        if (revokedGrantId !== undefined) await commitRevocation(em, providerContext.parse(ctx), revokedGrantId);
      });
    } catch (error) {
      if (!(error instanceof RollbackSignal)) throw error;
      await markAssertionUsedAfterRollback(em, ctx.req);
      ctx.remove('Set-Cookie'); // the cookie would refer to a session that was rolled back
    }
  };

/** Records the reuse of a code or token in the audit log if the request was rejected, and deletes the revoked grant's connected app. */
async function commitRevocation(em: EntityManager, ctx: KoaContextWithOIDC, grantId: string): Promise<void> {
  if (ctx.status >= 400) await auditTokenReuse(em, ctx, grantId);
  await deleteRevokedGrantDataAndRecordEvents(em, { grantId });
}
