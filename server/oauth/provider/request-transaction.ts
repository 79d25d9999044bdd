import type { Context, Middleware } from 'koa';
import type { KoaContextWithOIDC } from 'oidc-provider';
import type { EntityManager } from '../../database/entity-manager/entity-manager.ts';
import { endpointPaths } from '../protocol/endpoints.ts';
import { deleteRevokedConnectedApps } from '../grants/delete-revoked-connected-apps.ts';
import { auditTokenReuse } from '../refresh/audit-token-reuse.ts';

/** Rolls the transaction back after an error response. */
class RollbackSignal extends Error {}

const revocationsByRequest = new WeakMap<object, { readonly grantId: string; readonly recordAudit: () => Promise<void> }>();

/** Returns a listener for `grant.revoked`. The request that detected reuse is rejected, but the revocation is committed and audited. */
export const trackGrantRevocation =
  (em: EntityManager) =>
  (ctx: KoaContextWithOIDC, grantId: string): void =>
    void revocationsByRequest.set(ctx.req, { grantId, recordAudit: () => auditTokenReuse(em, ctx, grantId) });

/** Returns whether this request revoked a grant because its code or token had already been used. */
export const hasRevokedGrant = (req: object): boolean => revocationsByRequest.has(req);

const { authorization, code_verification: deviceCode, revocation, token } = endpointPaths;
const consumingEndpoints = new Set<string>([token, revocation, deviceCode]);

const needsTransaction = ({ method, path, query }: Context): boolean => {
  if (method === 'POST') return consumingEndpoints.has(path);
  const resumesInteraction = path.startsWith(`${authorization}/`) || path.startsWith(`${deviceCode}/`);
  return resumesInteraction || (path === authorization && query['request_uri'] !== undefined); // a pushed request can be used once
};

/**
 * Runs a request that consumes a code, a token or an interaction in one transaction. The transaction commits if the request succeeds or
 * revokes a grant, and rolls back otherwise, so that a rejected or failed request leaves the code unused (required by FAPI 2.0).
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
        const revoked = revocationsByRequest.get(ctx.req);
        if (ctx.status >= 400 && !revoked) throw new RollbackSignal();
        if (ctx.status >= 400) await revoked?.recordAudit();
        if (revoked) await deleteRevokedConnectedApps(em, { grantId: revoked.grantId });
      });
    } catch (error) {
      if (!(error instanceof RollbackSignal)) throw error;
      ctx.remove('Set-Cookie'); // the cookie would refer to a session that was rolled back
    }
  };
