import type { ApplicationCreate } from '@mandate/contract';

/** A test plan from the suite, and the settings used to run it against this server. */
export type ConformancePlan = {
  /** Identifies the plan in the results. Several entries can run the same plan of the suite with different variants. */
  readonly id: string;
  /** The suite's name for the plan. */
  readonly name: string;
  readonly title: string;
  readonly variant: Readonly<Record<string, string>>;
  /** Whether the server sends logout tokens to the suite. */
  readonly receivesLogoutTokens?: boolean;
  /** Whether the suite registers the applications itself (RFC 7591), with an initial access token from an administrator. */
  readonly registersApplications?: boolean;
  /** Modules that are not run because they do not apply to this server, each with the reason. */
  readonly omittedModules?: Readonly<Record<string, string>>;
  /** If set, the applications have the security profile `fapi2`, and are registered with these grant types and scopes. */
  readonly fapi2?: RequestedAccess;
};

export type RequestedAccess = Pick<ApplicationCreate, 'grant_types' | 'scopes'> & {
  readonly requestedScope: string;
  readonly authorizationDetails?: readonly object[];
};

const discoveryAndStaticClients = { server_metadata: 'discovery', client_registration: 'static_client' };
const fapi2Plan = 'fapi2-security-profile-final-test-plan';
const messageSigningPlan = 'fapi2-message-signing-final-test-plan';
const fapi2Variant = { client_auth_type: 'private_key_jwt', sender_constrain: 'dpop' };
const mutualTlsVariant = { client_auth_type: 'mtls', sender_constrain: 'mtls' };
const openIdConnectVariant = { fapi_profile: 'plain_fapi', openid: 'openid_connect' };
const signedMessages = { fapi_request_method: 'signed_non_repudiation', fapi_response_mode: 'jarm' };
const readOrders = (requestedScope: string): RequestedAccess => ({
  grant_types: ['authorization_code', 'refresh_token'],
  scopes: ['orders.read'],
  requestedScope,
});
// the suite's metadata module requires a value for `openid`
const clientCredentialsVariant = { fapi_profile: 'fapi_client_credentials_grant', openid: 'plain_oauth' };
const manageOrders: RequestedAccess = {
  grant_types: ['client_credentials'],
  scopes: ['orders.manage'],
  requestedScope: 'orders.manage',
};

const noRequestUris = 'The server fetches no request objects by URL, as its metadata states.';
const noKeysOfThisMachine =
  "The suite serves the application's keys at a URL on this machine. The server never requests keys from such an address, so that it cannot be used to reach internal services. `test/oauth/clients/client-keys-by-url.test.ts` tests keys at a URL.";

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
  {
    name: 'oidcc-dynamic-certification-test-plan',
    title: 'Dynamic OP',
    variant: { response_type: 'code' },
    registersApplications: true,
    omittedModules: {
      'oidcc-discovery-endpoint-verification':
        'In this plan, the module requires the implicit grant, which this server does not support (RFC 9700 section 2.1.2). The same module passes in Config OP.',
      'oidcc-userinfo-rs256': 'The server does not sign userinfo responses, and its metadata lists no algorithm for them.',
      'oidcc-request-uri-signed-rs256': noRequestUris,
      'oidcc-request-uri-unsigned': noRequestUris,
      'oidcc-registration-jwks-uri': noKeysOfThisMachine,
      'oidcc-refresh-token-rp-key-rotation': noKeysOfThisMachine,
      'oidcc-server-rotate-keys':
        'The server publishes new keys, but the module does not know the type `OKP` (RFC 8037) and stops at the new Ed25519 key. `test/oauth/signing-keys/key-rotation.test.ts` tests the rotation.',
    },
  },
];

export const conformancePlans: readonly ConformancePlan[] = [
  ...openIdConnectPlans.map((plan) => ({ id: plan.name, ...plan })),
  {
    id: `${fapi2Plan}:openid_connect`,
    name: fapi2Plan,
    title: 'FAPI 2.0 Security Profile Final, OpenID Connect',
    variant: { ...fapi2Variant, ...openIdConnectVariant },
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
    variant: { ...fapi2Variant, ...openIdConnectVariant, authorization_request_type: 'rar' },
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
    variant: { ...fapi2Variant, ...clientCredentialsVariant },
    fapi2: manageOrders,
  },
  {
    id: `${fapi2Plan}:mtls`,
    name: fapi2Plan,
    title: 'FAPI 2.0 Security Profile Final, mutual TLS',
    variant: { ...mutualTlsVariant, ...openIdConnectVariant },
    fapi2: readOrders('openid orders.read'),
  },
  {
    id: `${fapi2Plan}:mtls_and_dpop`,
    name: fapi2Plan,
    title: 'FAPI 2.0 Security Profile Final, client authentication with mutual TLS, and DPoP',
    variant: { ...mutualTlsVariant, sender_constrain: 'dpop', ...openIdConnectVariant },
    fapi2: readOrders('openid orders.read'),
  },
  {
    id: `${fapi2Plan}:private_key_jwt_and_mtls`,
    name: fapi2Plan,
    title: 'FAPI 2.0 Security Profile Final, private_key_jwt, and tokens bound to certificates',
    variant: { ...mutualTlsVariant, client_auth_type: 'private_key_jwt', ...openIdConnectVariant },
    fapi2: readOrders('openid orders.read'),
  },
  {
    id: `${fapi2Plan}:client_credentials_and_mtls`,
    name: fapi2Plan,
    title: 'FAPI 2.0 Security Profile Final, client credentials with mutual TLS',
    variant: { ...mutualTlsVariant, ...clientCredentialsVariant },
    fapi2: manageOrders,
  },
  {
    id: `${messageSigningPlan}:private_key_jwt_and_dpop`,
    name: messageSigningPlan,
    title: 'FAPI 2.0 Message Signing Final, private_key_jwt and DPoP',
    variant: { ...fapi2Variant, ...openIdConnectVariant, ...signedMessages },
    fapi2: readOrders('openid orders.read'),
  },
  {
    id: `${messageSigningPlan}:mtls`,
    name: messageSigningPlan,
    title: 'FAPI 2.0 Message Signing Final, mutual TLS',
    variant: { ...mutualTlsVariant, ...openIdConnectVariant, ...signedMessages },
    fapi2: readOrders('openid orders.read'),
  },
];

/** Returns the plans with the given IDs or names. An empty list selects all plans. */
export function selectPlans(selectors: readonly string[]): readonly ConformancePlan[] {
  const matches = ({ id, name }: ConformancePlan, selector: string): boolean => id === selector || name === selector;
  const unknown = selectors.filter((selector) => !conformancePlans.some((plan) => matches(plan, selector)));
  if (unknown.length > 0)
    throw new Error(`unknown plans: ${unknown.join(', ')}. The plans are:\n${conformancePlans.map(({ id }) => id).join('\n')}`);
  return selectors.length === 0
    ? conformancePlans
    : conformancePlans.filter((plan) => selectors.some((selector) => matches(plan, selector)));
}
