import type { Scope } from '@mandate/contract';
import { obtainAuthorizationCode, redeemCode, type TestUser, type TokenResponse } from './oauth-flow.ts';

/** A token response with authorization details. */
export type LimitedTokens = TokenResponse & { readonly authorization_details?: Record<string, unknown>[] };

/** Limits of authorization details (RFC 9396) for orders. */
export type RequestedLimits = {
  readonly actions?: readonly string[];
  readonly limits?: Readonly<Record<string, unknown>>;
  readonly valid_until?: string;
};

export const orderDetailsParameter = (details: RequestedLimits): string => JSON.stringify([{ type: 'mandate_orders', ...details }]);

/**
 * Obtains tokens of the command-line client with limits for orders.
 * @param consentForm the form fields submitted on the consent page
 */
export async function obtainLimitedTokens(
  origin: string,
  user: Pick<TestUser, 'browser'>,
  scopes: readonly Scope[],
  details: RequestedLimits | undefined,
  consentForm: Record<string, string | readonly string[]> = {},
): Promise<LimitedTokens> {
  const scope = ['openid', ...scopes].join(' ');
  const parameters = { scope, ...(details && { authorization_details: orderDetailsParameter(details) }) };
  const granted = await obtainAuthorizationCode(origin, user, parameters, { decision: 'allow', ...consentForm });
  if (granted.code === '') throw new Error(`no code: ${granted.leaves.search}`);
  const response = await redeemCode(origin, granted);
  const text = await response.text();
  if (response.status !== 200) throw new Error(`no token: ${response.status} ${text}`);
  return JSON.parse(text);
}
