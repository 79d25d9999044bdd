import type { Scope } from '@mandate/contract';
import type { Database } from '../../../server/database/entity-manager/entity-manager-type.ts';
import {
  basicAuthorization,
  obtainAuthorizationCode,
  redeemCode,
  sendTokenRequest,
  type AuthorizationParameters,
  type ClientCredentials,
  type TestUser,
  type TokenResponse,
} from './oauth-flow.ts';

/** A token response with authorization details. */
export type LimitedTokens = TokenResponse & { readonly authorization_details?: Record<string, unknown>[] };

/** Order limits in authorization details (RFC 9396). */
export type RequestedLimits = {
  readonly actions?: readonly string[];
  readonly limits?: Readonly<Record<string, unknown>>;
  readonly products?: { readonly categories: readonly string[] };
  readonly valid_until?: string;
  readonly orders?: 'own' | 'all';
  readonly approval?: 'above_limit' | 'always' | 'never';
};

export const orderDetailsParameter = (details: RequestedLimits): string => JSON.stringify([{ type: 'mandate_orders', ...details }]);

/**
 * Obtains tokens with order limits for the command-line client.
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
  return parseTokens(await redeemCode(origin, granted));
}

type WebApplication = ClientCredentials & { readonly redirectUri: string };

/** Returns the parameters of a web application's authorization request with limits for orders. */
export const limitedRequestOfApplication = (
  { clientId, redirectUri }: WebApplication,
  scopes: readonly Scope[],
  details: RequestedLimits | undefined,
): AuthorizationParameters => ({
  client_id: clientId,
  redirect_uri: redirectUri,
  scope: ['openid', 'offline_access', ...scopes].join(' '),
  prompt: 'consent',
  ...(details && { authorization_details: orderDetailsParameter(details) }),
});

/** Redeems the authorization code of a web application. */
export async function redeemCodeOfApplication(
  origin: string,
  { clientId, secret, redirectUri }: WebApplication,
  { code, verifier }: { readonly code: string; readonly verifier: string },
): Promise<LimitedTokens> {
  const form = { grant_type: 'authorization_code', code, code_verifier: verifier, redirect_uri: redirectUri };
  return parseTokens(await sendTokenRequest(origin, form, basicAuthorization(clientId, secret)));
}

/** Obtains tokens with order limits for a web application. */
export async function obtainLimitedTokensOfApplication(
  origin: string,
  user: Pick<TestUser, 'browser'>,
  client: WebApplication,
  scopes: readonly Scope[],
  details: RequestedLimits | undefined,
  consentForm: Record<string, string | readonly string[]> = {},
): Promise<LimitedTokens> {
  const request = limitedRequestOfApplication(client, scopes, details);
  const granted = await obtainAuthorizationCode(origin, user, request, { decision: 'allow', ...consentForm });
  return redeemCodeOfApplication(origin, client, granted);
}

async function parseTokens(response: Response): Promise<LimitedTokens> {
  const text = await response.text();
  if (response.status !== 200) throw new Error(`no token was issued: ${response.status} ${text}`);
  return JSON.parse(text);
}

/** Converts an application's grants to the format that was used before applications were restricted to their own orders. */
export const deleteStoredLimits = (db: Database, clientId: string): Promise<unknown> =>
  db.em.fork().execute('delete from order_limits where grant_id in (select grant_id from connections where client_id = ?)', [clientId]);
