import type { ApplicationCreate } from '@mandate/contract';
import { toJwkWithCertificate } from '../support/application-keys/client-certificates.ts';
import { createCertificate, type Authority, type CertificateWithKey } from '../support/network/create-certificate.ts';
import type { ConformancePlan, RequestedAccess } from './conformance-plans.ts';
import { createSigningKey } from './signing-key.ts';

/** Values that, together with the plan, determine a run's applications. */
export type ConformanceRun = {
  readonly suiteOrigin: string;
  /** Path segment of the suite's callback URLs, which are registered as redirect URIs. Concurrent runs need different aliases. */
  readonly alias: string;
  /** The authority whose certificates authenticate applications. */
  readonly authority: Authority;
};

/**
 * An application that a plan needs. `configuration` contains the application's entries in the suite's configuration, in addition to the
 * client ID and the client secret.
 */
export type ConformanceClient = {
  readonly registration: ApplicationCreate;
  readonly configuration: object;
  /** The client certificate for the application's TLS connections. */
  readonly certificate?: CertificateWithKey | undefined;
};

/**
 * Returns the two applications that a plan needs, or none if the suite registers them. Applications with the security profile get new keys
 * and certificates.
 */
export const createConformanceClients = (plan: ConformancePlan, run: ConformanceRun): readonly ConformanceClient[] =>
  (plan.registersApplications === true ? [] : ([1, 2] as const)).map((number) => {
    const suiteUrl = `${run.suiteOrigin}/test/a/${run.alias}`;
    const name = `OpenID conformance suite, client ${number}`;
    if (plan.fapi2) return createFapi2Client(plan.variant, plan.fapi2, { ...run, number, name, callback: `${suiteUrl}/callback` });
    const registration: ApplicationCreate = {
      name,
      type: 'confidential',
      redirect_uris: [`${suiteUrl}/callback`],
      post_logout_redirect_uris: [`${suiteUrl}/post_logout_redirect`],
      ...(plan.receivesLogoutTokens === true && { backchannel_logout_uri: `${suiteUrl}/backchannel_logout` }),
      scopes: [],
      grant_types: ['authorization_code', 'refresh_token'],
      // only one of the suite's OpenID Connect modules uses PKCE, and another one does not even send a nonce
      allow_neither_pkce_nor_nonce: true,
    };
    return { registration, configuration: {} };
  });

type Fapi2Client = Pick<ConformanceRun, 'alias' | 'authority'> & {
  readonly number: 1 | 2;
  readonly name: string;
  readonly callback: string;
};

function createFapi2Client(
  variant: ConformancePlan['variant'],
  { grant_types, scopes, requestedScope }: RequestedAccess,
  client: Fapi2Client,
): ConformanceClient {
  const { number, name, callback } = client;
  // one module replaces PS256 with RS256, which needs an RSA key
  const key = createSigningKey(number === 1 ? 'PS256' : 'ES256');
  const usesCallback = grant_types?.includes('authorization_code');
  const usesCertificate = [variant['client_auth_type'], variant['sender_constrain']].includes('mtls');
  const certificate = usesCertificate ? createRsaCertificate(client) : undefined;
  return {
    registration: {
      name,
      type: 'confidential',
      // the suite adds a query to the second client's callback URL
      redirect_uris: usesCallback ? [callback, `${callback}?dummy1=lorem&dummy2=ipsum`] : [],
      scopes,
      grant_types,
      token_endpoint_auth_method: 'private_key_jwt',
      jwks: { keys: [key.publicJwk] }, // also needed to verify request objects
      ...(variant['client_auth_type'] === 'mtls' && certificate && describeCertificate(client, certificate, key.publicJwk)),
      tls_client_certificate_bound_access_tokens: variant['sender_constrain'] === 'mtls',
      require_signed_request_object: variant['fapi_request_method'] === 'signed_non_repudiation',
      security_profile: 'fapi2',
    },
    configuration: { scope: requestedScope, jwks: { keys: [key.privateJwk] } },
    certificate,
  };
}

const getCommonName = ({ alias, number }: Fapi2Client): string => `${alias}-client-${number}`;

/**
 * Creates a certificate with the type of key that the suite requires. The authority issues the first application's certificate. The second
 * application's certificate is self-signed.
 */
const createRsaCertificate = (client: Fapi2Client): CertificateWithKey =>
  createCertificate({
    subject: [['CN', getCommonName(client)]],
    keyType: 'rsa',
    purpose: 'client',
    ...(client.number === 1 && { issuer: client.authority }),
  });

/** Returns the registration of an application that authenticates with its certificate. */
const describeCertificate = (
  client: Fapi2Client,
  certificate: CertificateWithKey,
  signingKey: Record<string, unknown>,
): Partial<ApplicationCreate> =>
  client.number === 1
    ? {
        token_endpoint_auth_method: 'tls_client_auth',
        tls_client_auth_subject: { type: 'subject_dn', value: `CN=${getCommonName(client)}` },
      }
    : {
        token_endpoint_auth_method: 'self_signed_tls_client_auth',
        jwks: { keys: [signingKey, { ...toJwkWithCertificate(certificate) }] },
      };

export type RegisteredClient = { readonly client_id: string; readonly client_secret: string | null };

/** Returns the suite's configuration for a plan whose applications the suite registers with the given initial access token. */
export const createRegistrationConfiguration = (
  { title }: ConformancePlan,
  { issuer, alias }: { readonly issuer: string; readonly alias: string },
  initialAccessToken: string,
) => ({
  alias,
  description: `Mandate: ${title}`,
  server: { discoveryUrl: `${issuer}/.well-known/openid-configuration` },
  client: { client_name: 'OpenID conformance suite', initial_access_token: initialAccessToken },
  client2: { client_name: 'OpenID conformance suite, client 2', initial_access_token: initialAccessToken },
});

/** Returns the suite's configuration for a plan. */
export function createPlanConfiguration(
  { title, fapi2 }: ConformancePlan,
  { issuer, alias }: { readonly issuer: string; readonly alias: string },
  clients: readonly ConformanceClient[],
  credentials: readonly RegisteredClient[],
): object {
  const [client, client2] = clients.map(({ configuration }, index) => {
    const { client_id, client_secret } = credentials[index] ?? {};
    return { client_id, ...(client_secret != null && { client_secret }), ...configuration };
  });
  const [mtls, mtls2] = clients.map(({ certificate }) => certificate && { cert: certificate.cert, key: certificate.key });
  const isPlainOauth = fapi2 !== undefined && !fapi2.requestedScope.split(' ').includes('openid');
  return {
    alias,
    description: `Mandate: ${title}`,
    server: { discoveryUrl: `${issuer}/.well-known/${isPlainOauth ? 'oauth-authorization-server' : 'openid-configuration'}` },
    client,
    client2,
    ...(mtls && mtls2 && { mtls, mtls2 }),
    // applications with a secret can send it in the header or in the body
    ...(fapi2 ? { resource: describeResource(issuer, fapi2) } : { client_secret_post: client }),
  };
}

const describeResource = (issuer: string, { authorizationDetails }: RequestedAccess) => ({
  resourceUrl: `${issuer}/api/v1/orders`,
  ...(authorizationDetails && { richAuthorizationRequest: authorizationDetails }),
});
