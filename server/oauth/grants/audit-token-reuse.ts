import type { Request } from 'express';
import type { KoaContextWithOIDC } from 'oidc-provider';
import { z } from 'zod';
import { recordAuditEvent, getClientAddressAndUserAgent } from '../../audit/record-audit-event.ts';
import type { EntityManager } from '../../database/entity-manager/entity-manager-type.ts';
import { ConnectedAppEntity } from './connected-app.entity.ts';

/**
 * Records an audit event when a code or refresh token is reused, which means that two parties have the code or token. Call this in the
 * transaction that revokes the grant.
 */
export async function auditTokenReuse(em: EntityManager, ctx: KoaContextWithOIDC, grantId: string): Promise<void> {
  const { client, params } = ctx.oidc;
  const connectedApp = await em.findOne(ConnectedAppEntity, { grantId }, { disableIdentityMap: true });
  const grantType = params?.['grant_type'];
  const details = { grant_type: typeof grantType === 'string' ? grantType : '' };
  const event = { action: 'token.reused', outcome: 'refused', userId: connectedApp?.user, clientId: client?.clientId, details } as const;
  await recordAuditEvent(em, getClientAddressAndUserAgent(z.custom<Request>().parse(ctx.req)), event, new Date());
}
