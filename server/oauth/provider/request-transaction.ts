import type { Context, Middleware } from 'koa';
import type { KoaContextWithOIDC } from 'oidc-provider';
import type { Em } from '../../database/entity-manager/entity-manager.ts';
import { endpoints } from '../protocol/endpoints.ts';
import { endConnections } from '../grants/grant-events.ts';
import { recordReuse } from '../refresh/audit-token-reuse.ts';

class Undo extends Error {}

const revokedByRequest = new WeakMap<object, { readonly grantId: string; readonly writeDown: () => Promise<void> }>();

/** To be told of every `grant.revoked`: the request in which reuse was detected is refused, and its revocation is kept and written down. */
export const keepRevocation =
  (em: Em) =>
  (ctx: KoaContextWithOIDC, grantId: string): void =>
    void revokedByRequest.set(ctx.req, { grantId, writeDown: () => recordReuse(em, ctx, grantId) });

/** Whether this request ended a grant, because what it came with had been used before. */
export const endedGrant = (req: object): boolean => revokedByRequest.has(req);

const { authorization, code_verification: deviceCode, revocation, token } = endpoints;
const spendingForms = new Set<string>([token, revocation, deviceCode]);

const spendsSomething = ({ method, path, query }: Context): boolean => {
  if (method === 'POST') return spendingForms.has(path);
  const wayBackFromInteraction = path.startsWith(`${authorization}/`) || path.startsWith(`${deviceCode}/`);
  return wayBackFromInteraction || (path === authorization && query['request_uri'] !== undefined); // what was pushed is good for one use
};

/**
 * A request that spends a code, a token or an interaction is one transaction: kept when it succeeded or revoked a grant,
 * undone otherwise, so that a refused or failed request leaves the code as it was (FAPI 2.0 asks for that).
 */
export const tokenTransaction =
  (em: Em): Middleware =>
  async (ctx, next) => {
    if (!spendsSomething(ctx)) {
      await next();
      return;
    }
    try {
      await em.transactional(async () => {
        await next();
        const revoked = revokedByRequest.get(ctx.req);
        if (ctx.status >= 400 && !revoked) throw new Undo();
        if (ctx.status >= 400) await revoked?.writeDown();
        if (revoked) await endConnections(em, 'grant_id', revoked.grantId);
      });
    } catch (error) {
      if (!(error instanceof Undo)) throw error;
      ctx.remove('Set-Cookie'); // it would name a session that was not kept
    }
  };
