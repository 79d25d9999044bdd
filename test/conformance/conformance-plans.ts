import type { ApplicationCreate } from '@mandate/contract';

/** A test plan of the suite, and how it is run against this server. */
export type ConformancePlan = {
  /** The suite's name of the plan. */
  readonly name: string;
  readonly title: string;
  readonly variant: Readonly<Record<string, string>>;
};

const discoveryAndStaticClients = { server_metadata: 'discovery', client_registration: 'static_client' };

export const conformancePlans: readonly ConformancePlan[] = [
  { name: 'oidcc-config-certification-test-plan', title: 'Config OP', variant: {} },
  { name: 'oidcc-basic-certification-test-plan', title: 'Basic OP', variant: discoveryAndStaticClients },
  { name: 'oidcc-formpost-basic-certification-test-plan', title: 'Form Post Basic OP', variant: discoveryAndStaticClients },
  {
    name: 'oidcc-rp-initiated-logout-certification-test-plan',
    title: 'RP-Initiated Logout OP',
    variant: { response_type: 'code', client_registration: 'static_client' },
  },
];

/** Returns the plans with these names; no names select all plans. */
export function selectPlans(names: readonly string[]): readonly ConformancePlan[] {
  const unknown = names.filter((name) => !conformancePlans.some((plan) => plan.name === name));
  if (unknown.length > 0)
    throw new Error(`unknown plans: ${unknown.join(', ')}. The plans are:\n${conformancePlans.map(({ name }) => name).join('\n')}`);
  return names.length === 0 ? conformancePlans : conformancePlans.filter(({ name }) => names.includes(name));
}

/** Path segment of the suite's callback URLs, which are registered as redirect URIs. */
const alias = 'mandate';

/**
 * Returns the applications that a plan needs. The suite's modules do not use PKCE, except for one, so the applications are allowed to send a
 * nonce instead.
 */
export const createClientRegistrations = (suiteOrigin: string): readonly ApplicationCreate[] =>
  [1, 2].map((number) => ({
    name: `OpenID conformance suite, client ${number}`,
    type: 'confidential',
    redirect_uris: [`${suiteOrigin}/test/a/${alias}/callback`],
    post_logout_redirect_uris: [`${suiteOrigin}/test/a/${alias}/post_logout_redirect`],
    scopes: [],
    grant_types: ['authorization_code', 'refresh_token'],
    allow_nonce_instead_of_pkce: true,
  }));

export type RegisteredClient = { readonly client_id: string; readonly client_secret: string | null };

/** Returns the suite's configuration for a plan. */
export const createPlanConfiguration = (
  { title }: ConformancePlan,
  issuer: string,
  [client, client2]: readonly RegisteredClient[],
): object => ({
  alias,
  description: `Mandate: ${title}`,
  server: { discoveryUrl: `${issuer}/.well-known/openid-configuration` },
  client: credentialsOf(client),
  client2: credentialsOf(client2),
  // applications with a secret can send it in the header or in the body
  client_secret_post: credentialsOf(client),
});

const credentialsOf = (client: RegisteredClient | undefined) => ({
  client_id: client?.client_id,
  client_secret: client?.client_secret,
});
