import type { ApplicationCreate } from '@mandate/contract';
import { createSigningKey } from './signing-key.ts';

/** A test plan of the suite, and how it is run against this server. */
export type ConformancePlan = {
  /** Identifies the plan in the results. Several entries can run the same plan of the suite with different variants. */
  readonly id: string;
  /** The suite's name of the plan. */
  readonly name: string;
  readonly title: string;
  readonly variant: Readonly<Record<string, string>>;
  /** Whether the server sends logout tokens to the suite. */
  readonly receivesLogoutTokens?: boolean;
  /** If set, the applications have the security profile `fapi2`, and request this access. */
  readonly fapi2?: RequestedAccess;
};

type RequestedAccess = Pick<ApplicationCreate, 'grant_types' | 'scopes'> & {
  readonly requestedScope: string;
  readonly authorizationDetails?: readonly object[];
};

const discoveryAndStaticClients = { server_metadata: 'discovery', client_registration: 'static_client' };
const fapi2Plan = 'fapi2-security-profile-final-test-plan';
const fapi2Variant = { client_auth_type: 'private_key_jwt', sender_constrain: 'dpop' };
const readOrders = (requestedScope: string): RequestedAccess => ({
  grant_types: ['authorization_code', 'refresh_token'],
  scopes: ['orders.read'],
  requestedScope,
});

const openIdConnectPlans: readonly Omit<ConformancePlan, 'id'>[] = [
  { name: 'oidcc-config-certification-test-plan', title: 'Config OP', variant: {} },
  { name: 'oidcc-basic-certification-test-plan', title: 'Basic OP', variant: discoveryAndStaticClients },
  { name: 'oidcc-formpost-basic-certification-test-plan', title: 'Form Post Basic OP', variant: discoveryAndStaticClients },
  {
    name: 'oidcc-rp-initiated-logout-certification-test-plan',
    title: 'RP-Initiated Logout OP',
    variant: { response_type: 'code', client_registration: 'static_client' },
  },
  {
    name: 'oidcc-backchannel-rp-initiated-logout-certification-test-plan',
    title: 'Back-Channel Logout OP',
    variant: { response_type: 'code', client_registration: 'static_client' },
    receivesLogoutTokens: true,
  },
];

export const conformancePlans: readonly ConformancePlan[] = [
  ...openIdConnectPlans.map((plan) => ({ id: plan.name, ...plan })),
  {
    id: `${fapi2Plan}:openid_connect`,
    name: fapi2Plan,
    title: 'FAPI 2.0 Security Profile Final, OpenID Connect',
    variant: { ...fapi2Variant, fapi_profile: 'plain_fapi', openid: 'openid_connect' },
    fapi2: readOrders('openid orders.read'),
  },
  {
    id: `${fapi2Plan}:plain_oauth`,
    name: fapi2Plan,
    title: 'FAPI 2.0 Security Profile Final, OAuth',
    variant: { ...fapi2Variant, fapi_profile: 'plain_fapi', openid: 'plain_oauth' },
    fapi2: readOrders('orders.read'),
  },
  {
    id: `${fapi2Plan}:authorization_details`,
    name: fapi2Plan,
    title: 'FAPI 2.0 Security Profile Final, rich authorization requests',
    variant: { ...fapi2Variant, fapi_profile: 'plain_fapi', openid: 'openid_connect', authorization_request_type: 'rar' },
    fapi2: {
      grant_types: ['authorization_code', 'refresh_token'],
      scopes: ['orders.read', 'orders.write'],
      requestedScope: 'openid orders.read orders.write',
      authorizationDetails: [{ type: 'mandate_orders', actions: ['place'], limits: { currency: 'GBP', per_order: 5000 } }],
    },
  },
  {
    id: `${fapi2Plan}:client_credentials`,
    name: fapi2Plan,
    title: 'FAPI 2.0 Security Profile Final, client credentials',
    // the module that checks the server's metadata requires a value for `openid`
    variant: { ...fapi2Variant, fapi_profile: 'fapi_client_credentials_grant', openid: 'plain_oauth' },
    fapi2: { grant_types: ['client_credentials'], scopes: ['orders.manage'], requestedScope: 'orders.manage' },
  },
];

/** Returns the plans with these IDs or names; an empty list selects all plans. */
export function selectPlans(selectors: readonly string[]): readonly ConformancePlan[] {
  const matches = ({ id, name }: ConformancePlan, selector: string): boolean => id === selector || name === selector;
  const unknown = selectors.filter((selector) => !conformancePlans.some((plan) => matches(plan, selector)));
  if (unknown.length > 0)
    throw new Error(`unknown plans: ${unknown.join(', ')}. The plans are:\n${conformancePlans.map(({ id }) => id).join('\n')}`);
  return selectors.length === 0
    ? conformancePlans
    : conformancePlans.filter((plan) => selectors.some((selector) => matches(plan, selector)));
}

/** Path segment of the suite's callback URLs, which are registered as redirect URIs. */
const alias = 'mandate';

/** An application that a plan needs, and the members other than its credentials that describe it in the suite's configuration. */
export type ConformanceClient = { readonly registration: ApplicationCreate; readonly configuration: object };

/** Returns the two applications that a plan needs. Applications with the security profile `fapi2` get new keys. */
export const createConformanceClients = (plan: ConformancePlan, suiteOrigin: string): readonly ConformanceClient[] =>
  [1, 2].map((number) => {
    const suiteUrl = `${suiteOrigin}/test/a/${alias}`;
    const name = `OpenID conformance suite, client ${number}`;
    if (plan.fapi2) return createFapi2Client(plan.fapi2, number, name, `${suiteUrl}/callback`);
    const registration: ApplicationCreate = {
      name,
      type: 'confidential',
      redirect_uris: [`${suiteUrl}/callback`],
      post_logout_redirect_uris: [`${suiteUrl}/post_logout_redirect`],
      ...(plan.receivesLogoutTokens === true && { backchannel_logout_uri: `${suiteUrl}/backchannel_logout` }),
      scopes: [],
      grant_types: ['authorization_code', 'refresh_token'],
      // only one of the suite's modules for OpenID Connect uses PKCE
      allow_nonce_instead_of_pkce: true,
    };
    return { registration, configuration: {} };
  });

function createFapi2Client(
  { grant_types, scopes, requestedScope }: RequestedAccess,
  number: number,
  name: string,
  callback: string,
): ConformanceClient {
  // one module replaces PS256 with RS256, which requires an RSA key
  const key = createSigningKey(number === 1 ? 'PS256' : 'ES256');
  const usesCallback = grant_types?.includes('authorization_code');
  return {
    registration: {
      name,
      type: 'confidential',
      // for the second client, the suite adds a query to the callback URL
      redirect_uris: usesCallback ? [callback, `${callback}?dummy1=lorem&dummy2=ipsum`] : [],
      scopes,
      grant_types,
      token_endpoint_auth_method: 'private_key_jwt',
      jwks: { keys: [key.publicJwk] },
      security_profile: 'fapi2',
    },
    configuration: { scope: requestedScope, jwks: { keys: [key.privateJwk] } },
  };
}

export type RegisteredClient = { readonly client_id: string; readonly client_secret: string | null };

/** Returns the suite's configuration for a plan. */
export function createPlanConfiguration(
  { title, fapi2 }: ConformancePlan,
  issuer: string,
  clients: readonly ConformanceClient[],
  credentials: readonly RegisteredClient[],
): object {
  const [client, client2] = clients.map(({ configuration }, index) => {
    const { client_id, client_secret } = credentials[index] ?? {};
    return { client_id, ...(client_secret != null && { client_secret }), ...configuration };
  });
  const isPlainOauth = fapi2 !== undefined && !fapi2.requestedScope.split(' ').includes('openid');
  return {
    alias,
    description: `Mandate: ${title}`,
    server: { discoveryUrl: `${issuer}/.well-known/${isPlainOauth ? 'oauth-authorization-server' : 'openid-configuration'}` },
    client,
    client2,
    // applications with a secret can send it in the header or in the body
    ...(fapi2 ? { resource: describeResource(issuer, fapi2) } : { client_secret_post: client }),
  };
}

const describeResource = (issuer: string, { authorizationDetails }: RequestedAccess) => ({
  resourceUrl: `${issuer}/api/v1/orders`,
  ...(authorizationDetails && { richAuthorizationRequest: authorizationDetails }),
});
