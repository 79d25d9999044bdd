import {
  orderAuthorizationDetailsInputSchema,
  orderAuthorizationDetailsType,
  type OrderAccessLevel,
  type OrderAuthorizationDetails,
  type OrderLimitsInput,
} from '@mandate/contract';
import type { Request } from 'express';
import { errors, type Configuration, type KoaContextWithOIDC } from 'oidc-provider';
import { z } from 'zod';
import { Application } from '../../applications/application.entity.ts';
import { getClientAddressAndUserAgent } from '../../audit/record-audit-event.ts';
import type { EntityManager } from '../../database/entity-manager/entity-manager-type.ts';
import { findFieldPermittingMoreThanAllowed } from '../../order-limits/find-field-permitting-more-than-allowed.ts';
import type { OrderLimitsRow } from '../../order-limits/order-limits-and-budgeted-order.entity.ts';
import { authorizationDetailsFromOrderLimits } from '../../order-limits/order-limits-conversion.ts';
import { findEffectiveOrderLimits } from '../../order-limits/find-effective-order-limits.ts';
import { ConnectedAppEntity } from './connected-app.entity.ts';
import { findLimitAboveCeilings, findOrderLimitCeilingsAndDefaults } from './find-order-limit-ceilings-and-defaults.ts';
import { findCategoriesWithoutProductsForSale } from '../../order-limits/product-categories-of-limits.ts';
import { findUserSetOrderLimits, saveOrderLimits } from '../../order-limits/save-find-and-delete-order-limits.ts';
import { recordLimitChangeAndUpdateTokens } from './record-limit-change-and-update-tokens.ts';
import { getDefaultOrderAccess, parseAuthorizationDetails } from './order-limits-of-authorization-request.ts';
import { formatInEnglish } from '../../http/problem-details/translate-detail.ts';

type Feature = NonNullable<NonNullable<Configuration['features']>['richAuthorizationRequests']>;

/**
 * Configures rich authorization requests (RFC 9396). After the user's consent, the allowed limits are stored in the table `order_limits`,
 * and the user can change them later. Tokens and introspection responses therefore contain the current limits, not the limits of the
 * request.
 */
export const configureRichAuthorizationRequests = (em: EntityManager) =>
  ({
    enabled: true,
    types: {
      [orderAuthorizationDetailsType]: {
        async validate(ctx, detail) {
          if (parseAuthorizationDetails(ctx.oidc.params ?? {})?.length !== 1)
            throw invalidDetails(`send one object of the type ${orderAuthorizationDetailsType}`);
          const limits = parseOrderDetails(detail, new Date());
          const excess = findLimitAboveCeilings(await findOrderLimitCeilingsAndDefaults(em, ctx.oidc.client?.clientId ?? ''), limits);
          if (excess) throw invalidDetails(`${excess.path.join('.')}: for this application, ${formatInEnglish(excess.reason)}`);
          const [unknown] = limits.products ? await findCategoriesWithoutProductsForSale(em, limits.products.categories) : [];
          if (unknown !== undefined) throw invalidDetails(`products.categories: no product for sale is in the category ${unknown}`);
        },
      },
    },
    authorizationDetailsForGrantSource: (ctx) => ctx.oidc.entities.Grant?.rar,
    async authorizationDetailsForAccessToken(ctx, token, _source, grantType) {
      const grantId = 'grantId' in token ? token.grantId : undefined;
      if (grantId === undefined || grantType === 'client_credentials') {
        throw invalidDetails('only applications that act on behalf of a user can send authorization details');
      }
      if (ctx.oidc.params?.['authorization_details'] !== undefined) await narrowLimits(em, ctx, grantId);
      return currentDetails(em, grantId, token.clientId);
    },
    authorizationDetailsForIntrospection: (_ctx, token) =>
      'grantId' in token && token.grantId !== undefined ? currentDetails(em, token.grantId, token.clientId) : undefined,
  }) satisfies Feature;

/**
 * Narrows the limits of a grant to the limits in a token request. A narrower limit is permanent: only the user can widen it again. If
 * `orders`, `approval` or `products` is omitted, its value remains unchanged, because existing applications may not support these fields.
 */
async function narrowLimits(em: EntityManager, ctx: KoaContextWithOIDC, grantId: string): Promise<void> {
  const [detail] = parseAuthorizationDetails(ctx.oidc.params ?? {}) ?? [];
  const {
    orders: requestedOrders,
    approval: requestedApproval,
    products: requestedProducts,
    ...conditions
  } = parseOrderDetails(detail, new Date());
  const current = await findUserSetOrderLimits(em, grantId);
  const categories = requestedProducts?.categories ?? current?.categories;
  const orders = requestedOrders ?? (await resolveOrderAccess(em, ctx, current));
  const approval = requestedApproval ?? current?.approval ?? 'above_limit';
  const requested = { ...conditions, ...(categories && { products: { categories: [...categories] } }), orders, approval };
  const before = current && authorizationDetailsFromOrderLimits(current);
  const widened = before ? findFieldPermittingMoreThanAllowed(before, requested) : undefined;
  if (widened !== undefined) throw invalidDetails(`${widened} permits more than the user allowed`);
  if (before && findFieldPermittingMoreThanAllowed(requested, before) === undefined) return; // the limits stay the same
  await saveOrderLimits(em, grantId, requested);
  const app = await em.findOne(ConnectedAppEntity, { grantId }, { disableIdentityMap: true });
  if (!app) return;
  const source = getClientAddressAndUserAgent(z.custom<Request>().parse(ctx.req));
  await recordLimitChangeAndUpdateTokens(em, app, { source, actorId: undefined, by: app.clientId, limits: requested }, new Date());
}

type IntrospectionPolicy = NonNullable<NonNullable<NonNullable<Configuration['features']>['introspection']>['allowedPolicy']>;

/**
 * Lets clients introspect only tokens that were issued to them. oidc-provider returns authorization details only for tokens that were
 * issued with details. This function adds an empty list to other tokens, because limits may have been set since those tokens were issued.
 */
export const allowOwnTokenIntrospectionAndAddDetails: IntrospectionPolicy = (_ctx, client, token) => {
  token.rar ??= [];
  return token.clientId === client.clientId;
};

async function resolveOrderAccess(em: EntityManager, ctx: KoaContextWithOIDC, current: OrderLimitsRow | null): Promise<OrderAccessLevel> {
  if (current) return authorizationDetailsFromOrderLimits(current).orders;
  const where = { clientId: ctx.oidc.client?.clientId ?? '' };
  const application = await em.fork({ keepTransactionContext: true }).findOne(Application, where, { fields: ['firstParty'] });
  return getDefaultOrderAccess({ firstParty: application?.firstParty ?? false });
}

async function currentDetails(
  em: EntityManager,
  grantId: string,
  clientId: string | undefined,
): Promise<OrderAuthorizationDetails[] | undefined> {
  const limits = await findEffectiveOrderLimits(em, grantId, clientId ?? '');
  return limits ? [limits.details] : undefined;
}

/** @throws errors.InvalidAuthorizationDetails with a message that describes all errors */
function parseOrderDetails(detail: unknown, now: Date): OrderLimitsInput {
  const parsed = orderAuthorizationDetailsInputSchema.safeParse(detail);
  if (!parsed.success) throw invalidDetails(parsed.error.issues.map(describeIssue).join('; '));
  const { valid_until: validUntil } = parsed.data;
  if (validUntil !== undefined && new Date(validUntil) <= now) throw invalidDetails('valid_until must be in the future');
  const { type: _type, ...limits } = parsed.data;
  return limits;
}

const describeIssue = (issue: z.ZodIssue): string =>
  issue.code === 'unrecognized_keys'
    ? `unknown field: ${[...issue.path, ...issue.keys].join('.')}`
    : `${issue.path.join('.')}: ${issue.message}`;

/**
 * Creates an error for invalid authorization details. RFC 6749 section 5.2 permits only printable ASCII characters in the description,
 * except quotation marks and backslashes.
 */
const invalidDetails = (description: string): errors.InvalidAuthorizationDetails =>
  new errors.InvalidAuthorizationDetails(description.replaceAll(/[^\x20-\x7e]|["\\]/g, "'").slice(0, 500));
