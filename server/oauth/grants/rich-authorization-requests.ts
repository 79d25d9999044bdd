import {
  orderAuthorizationDetailsInputSchema,
  orderAuthorizationDetailsType,
  type OrderAuthorizationDetails,
  type OrderLimitsInput,
} from '@mandate/contract';
import { errors, type Configuration, type KoaContextWithOIDC } from 'oidc-provider';
import { z } from 'zod';
import type { EntityManager } from '../../database/entity-manager/entity-manager-type.ts';
import { findWidenedLimit } from '../../order-limits/find-widened-limit.ts';
import { authorizationDetailsFromOrderLimits } from '../../order-limits/order-limits-conversion.ts';
import { findOrderLimits, saveOrderLimits } from '../../order-limits/save-find-and-delete-order-limits.ts';

type Feature = NonNullable<NonNullable<Configuration['features']>['richAuthorizationRequests']>;

/**
 * Configures rich authorization requests (RFC 9396). The consent page stores what the user allowed in `order_limits`, which the customer
 * can change later. Tokens and introspection responses therefore contain the current limits, not the limits of the request.
 */
export const configureRichAuthorizationRequests = (em: EntityManager) =>
  ({
    enabled: true,
    types: {
      [orderAuthorizationDetailsType]: {
        validate(ctx, detail) {
          if (parseDetails(ctx)?.length !== 1) throw invalidDetails(`send one object of the type ${orderAuthorizationDetailsType}`);
          parseOrderDetails(detail, new Date());
        },
      },
    },
    authorizationDetailsForGrantSource: (ctx) => ctx.oidc.entities.Grant?.rar,
    async authorizationDetailsForAccessToken(ctx, token, _source, grantType) {
      const grantId = 'grantId' in token ? token.grantId : undefined;
      if (grantId === undefined || grantType === 'client_credentials') {
        throw invalidDetails('authorization details are for applications that act for a user');
      }
      if (ctx.oidc.params?.['authorization_details'] !== undefined) await narrowLimits(em, ctx, grantId);
      return currentDetails(em, grantId);
    },
    authorizationDetailsForIntrospection: (_ctx, token) =>
      'grantId' in token && token.grantId !== undefined ? currentDetails(em, token.grantId) : undefined,
  }) satisfies Feature;

/** Validates and returns the order limits in an authorization request. */
export function parseRequestedOrderLimits(params: Readonly<Record<string, unknown>>): OrderLimitsInput | undefined {
  const [detail] = detailsSchema.parse(parseJson(params['authorization_details'])) ?? [];
  return detail === undefined ? undefined : orderAuthorizationDetailsInputSchema.parse(detail);
}

/** Narrows the limits of a grant to those in a token request. A narrower limit is permanent: only the user can widen it again. */
async function narrowLimits(em: EntityManager, ctx: KoaContextWithOIDC, grantId: string): Promise<void> {
  const requested = parseOrderDetails(parseDetails(ctx)?.[0], new Date());
  const current = await findOrderLimits(em, grantId);
  const widened = current ? findWidenedLimit(authorizationDetailsFromOrderLimits(current), requested) : undefined;
  if (widened !== undefined) throw invalidDetails(`${widened} permits more than the user allowed`);
  await saveOrderLimits(em, grantId, requested);
}

async function currentDetails(em: EntityManager, grantId: string): Promise<OrderAuthorizationDetails[] | undefined> {
  const limits = await findOrderLimits(em, grantId);
  return limits ? [authorizationDetailsFromOrderLimits(limits)] : undefined;
}

const detailsSchema = z.array(z.unknown()).optional();
const parseDetails = (ctx: KoaContextWithOIDC): unknown[] | undefined =>
  detailsSchema.parse(parseJson(ctx.oidc.params?.['authorization_details']));
const parseJson = (text: unknown): unknown => (typeof text === 'string' ? JSON.parse(text) : undefined);

/** @throws errors.InvalidAuthorizationDetails with a message that describes all errors */
function parseOrderDetails(detail: unknown, now: Date): OrderLimitsInput {
  const parsed = orderAuthorizationDetailsInputSchema.safeParse(detail);
  if (!parsed.success) throw invalidDetails(parsed.error.issues.map(describeIssue).join('; '));
  const { valid_until: validUntil } = parsed.data;
  if (validUntil !== undefined && new Date(validUntil) <= now) throw invalidDetails('valid_until must be in the future');
  return parsed.data;
}

const describeIssue = (issue: z.ZodIssue): string =>
  issue.code === 'unrecognized_keys'
    ? `unknown field: ${[...issue.path, ...issue.keys].join('.')}`
    : `${issue.path.join('.')}: ${issue.message}`;

/** RFC 6749 section 5.2 permits only printable ASCII characters without quotation marks and backslashes in a description. */
const invalidDetails = (description: string): errors.InvalidAuthorizationDetails =>
  new errors.InvalidAuthorizationDetails(description.replaceAll(/[^\x20-\x7e]|["\\]/g, "'").slice(0, 500));
