import { createPrivateKey, createPublicKey, X509Certificate } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { applicationCreateSchema } from '@mandate/contract';
import { createAuthority } from '../support/application-keys/client-certificates.ts';
import { conformancePlans, selectPlans } from './conformance-plans.ts';
import { createConformanceClients, createPlanConfiguration, createRegistrationConfiguration } from './plan-configuration.ts';

const [configPlan] = conformancePlans;
if (!configPlan) throw new Error('there are no plans');

describe('the configuration of a plan', () => {
  const credentials = [
    { client_id: 'one', client_secret: 'secret-1' },
    { client_id: 'two', client_secret: 'secret-2' },
  ];
  const suiteUrl = 'https://localhost:8443/test/a/mandate';
  const authority = createAuthority();
  const run = { issuer: 'https://localhost:3000', alias: 'mandate' };
  const configure = (id: string) => {
    const [plan, ...others] = selectPlans([id]);
    if (!plan || others.length > 0) throw new Error(`${id} is not one plan`);
    const clients = createConformanceClients(plan, { suiteOrigin: 'https://localhost:8443', alias: 'mandate', authority });
    for (const { registration } of clients) expect(applicationCreateSchema.safeParse(registration).error).toBeUndefined();
    return { plan, clients, registrations: clients.map(({ registration }) => registration) };
  };

  test('has the credentials of two registered applications, whose redirect URI is the callback of the suite', () => {
    const { plan, clients, registrations } = configure(configPlan.id);
    const callback = `${suiteUrl}/callback`;
    expect(registrations.map(({ redirect_uris: uris }) => uris)).toEqual([[callback], [callback]]);
    expect(registrations.map(({ backchannel_logout_uri: uri }) => uri)).toEqual([undefined, undefined]);
    expect(createPlanConfiguration(plan, run, clients, credentials)).toEqual({
      alias: 'mandate',
      description: 'Mandate: Config OP',
      server: { discoveryUrl: 'https://localhost:3000/.well-known/openid-configuration' },
      client: credentials[0],
      client2: credentials[1],
      client_secret_post: credentials[0],
    });
  });

  test('has an initial access token instead of registered applications, if the suite registers them', () => {
    const { plan, clients } = configure('oidcc-dynamic-certification-test-plan');
    expect(clients).toEqual([]);
    expect(createRegistrationConfiguration(plan, run, 'token')).toMatchObject({
      alias: 'mandate',
      server: { discoveryUrl: 'https://localhost:3000/.well-known/openid-configuration' },
      client: { initial_access_token: 'token' },
      client2: { initial_access_token: 'token' },
    });
  });

  test('has the URL of the suite for logout tokens, if the plan is about them', () => {
    const { registrations } = configure('oidcc-backchannel-rp-initiated-logout-certification-test-plan');
    for (const { backchannel_logout_uri: uri } of registrations) expect(uri).toBe(`${suiteUrl}/backchannel_logout`);
  });

  test('has different keys, whose public parts the server gets, if the plan is about FAPI 2.0', () => {
    const { plan, clients, registrations } = configure('fapi2-security-profile-final-test-plan:openid_connect');
    for (const { security_profile: profile, redirect_uris: uris } of registrations)
      expect([profile, uris]).toEqual(['fapi2', [`${suiteUrl}/callback`, `${suiteUrl}/callback?dummy1=lorem&dummy2=ipsum`]]);
    const registeredKeys = registrations.flatMap(({ jwks }) => jwks?.keys ?? []);
    expect(registeredKeys).toMatchObject([{ alg: 'PS256' }, { alg: 'ES256' }]);
    for (const key of registeredKeys) expect(key).not.toHaveProperty('d');
    const withoutSecrets = credentials.map(({ client_id }) => ({ client_id, client_secret: null }));
    expect(createPlanConfiguration(plan, run, clients, withoutSecrets)).toEqual({
      alias: 'mandate',
      description: 'Mandate: FAPI 2.0 Security Profile Final, OpenID Connect',
      server: { discoveryUrl: 'https://localhost:3000/.well-known/openid-configuration' },
      client: { client_id: 'one', scope: 'openid orders.read', jwks: { keys: [expect.objectContaining(registeredKeys[0])] } },
      client2: { client_id: 'two', scope: 'openid orders.read', jwks: { keys: [expect.objectContaining({ d: expect.any(String) })] } },
      resource: { resourceUrl: 'https://localhost:3000/api/v1/orders' },
    });
  });

  test('has a certificate for each application, which is used for authentication and bound tokens, if the plan is about mutual TLS', () => {
    const { plan, clients, registrations } = configure('fapi2-security-profile-final-test-plan:mtls');
    const [one, two] = clients.map(({ certificate }) => new X509Certificate(certificate?.cert ?? ''));
    if (!one || !two) throw new Error('expected two certificates');
    const x5c = [two.raw.toString('base64')];
    expect(registrations).toMatchObject([
      {
        token_endpoint_auth_method: 'tls_client_auth',
        tls_client_auth_subject: { type: 'subject_dn', value: one.subject },
        jwks: { keys: [{ alg: 'PS256' }] },
      },
      { token_endpoint_auth_method: 'self_signed_tls_client_auth', jwks: { keys: [{ alg: 'ES256' }, { kty: 'RSA', x5c }] } },
    ]);
    expect(registrations.map((each) => each.tls_client_certificate_bound_access_tokens)).toEqual([true, true]);
    expect([one.verify(createPublicKey(authority.cert)), two.verify(two.publicKey)]).toEqual([true, true]);
    const { key, cert } = clients[0]?.certificate ?? {};
    expect(createPlanConfiguration(plan, run, clients, credentials)).toMatchObject({
      mtls: { cert, key: expect.stringContaining('-----BEGIN PRIVATE KEY-----') },
      mtls2: { cert: expect.stringContaining('-----BEGIN CERTIFICATE-----') },
    });
    expect(one.checkPrivateKey(createPrivateKey(key ?? ''))).toBe(true);
  });

  test.each([
    ['mtls_and_dpop', ['tls_client_auth', 'self_signed_tls_client_auth'], false],
    ['private_key_jwt_and_mtls', ['private_key_jwt', 'private_key_jwt'], true],
    ['client_credentials_and_mtls', ['tls_client_auth', 'self_signed_tls_client_auth'], true],
  ])('uses certificates only as the plan %s requires', (variant, methods, isBound) => {
    const { plan, clients, registrations } = configure(`fapi2-security-profile-final-test-plan:${variant}`);
    expect(registrations.map((each) => each.token_endpoint_auth_method)).toEqual(methods);
    expect(registrations.map((each) => each.tls_client_certificate_bound_access_tokens)).toEqual([isBound, isBound]);
    expect(createPlanConfiguration(plan, run, clients, credentials)).toMatchObject({ mtls: {}, mtls2: {} });
  });

  test('requires signed requests, if the plan is about message signing', () => {
    const isSigned = (id: string) => configure(id).registrations.map((each) => each.require_signed_request_object);
    expect(isSigned('fapi2-message-signing-final-test-plan:private_key_jwt_and_dpop')).toEqual([true, true]);
    expect(isSigned('fapi2-message-signing-final-test-plan:mtls')).toEqual([true, true]);
    expect(isSigned('fapi2-security-profile-final-test-plan:mtls')).toEqual([false, false]);
  });

  test('has authorization details (RFC 9396), if the plan requests them', () => {
    const { plan, clients } = configure('fapi2-security-profile-final-test-plan:authorization_details');
    expect(createPlanConfiguration(plan, run, clients, credentials)).toMatchObject({
      resource: { richAuthorizationRequest: [{ type: 'mandate_orders' }] },
    });
  });

  test('has the OAuth metadata (RFC 8414) and no callback, if applications act on their own behalf', () => {
    const { plan, clients, registrations } = configure('fapi2-security-profile-final-test-plan:client_credentials');
    expect(registrations.map(({ redirect_uris: uris }) => uris)).toEqual([[], []]);
    expect(createPlanConfiguration(plan, run, clients, credentials)).toMatchObject({
      server: { discoveryUrl: 'https://localhost:3000/.well-known/oauth-authorization-server' },
    });
  });

  test('belongs to a known plan', () => {
    expect(selectPlans([])).toBe(conformancePlans);
    expect(selectPlans([configPlan.id])).toEqual([configPlan]);
    expect(selectPlans(['fapi2-message-signing-final-test-plan']).map(({ variant }) => variant['client_auth_type'])).toEqual([
      'private_key_jwt',
      'mtls',
    ]);
    expect(() => selectPlans(['other-plan'])).toThrow('unknown plans: other-plan');
  });
});
