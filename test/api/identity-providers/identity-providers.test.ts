import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { scopeNames } from '@mandate/contract';
import { beforeAll, expect, test } from 'vitest';
import { IdentityProviderEntity } from '../../../server/identity-providers/identity-provider.entity.ts';
import { administratorStatuses, testAuthorization } from '../../support/shop/authorization-matrix.ts';
import { testLogoUploads } from '../../support/shop/logo-upload-tests.ts';
import { createWebpHeader } from '../../support/shop/minimal-webp.ts';

const path = '/api/v1/identity-providers';
const randomName = (): string => `p${randomBytes(6).toString('hex')}`;
const newProvider = (slug = randomName()) => ({
  slug,
  preset: 'oidc',
  issuer: `https://${slug}.example`,
  client_id: 'shop',
  client_secret: `secret-${slug}`,
});
const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const pem = privateKey.export({ format: 'pem', type: 'pkcs8' }).toString();

const createForMatrix = async (createResource: (method: string, path: string, body: unknown, token?: string) => Promise<{ id: number }>) =>
  (await createResource('POST', '/identity-providers', newProvider(), admin.token)).id;

const { shop } = testAuthorization({
  'identityProviders.list': { send: () => ['GET', '/identity-providers'], statuses: administratorStatuses(200) },
  'identityProviders.create': { send: () => ['POST', '/identity-providers', newProvider()], statuses: administratorStatuses(201) },
  'identityProviders.get': {
    send: async ({ createResource }) => ['GET', `/identity-providers/${await createForMatrix(createResource)}`],
    statuses: administratorStatuses(200),
  },
  'identityProviders.update': {
    send: async ({ createResource }) => ['PATCH', `/identity-providers/${await createForMatrix(createResource)}`, { status: 'disabled' }],
    statuses: administratorStatuses(200),
  },
  'identityProviders.delete': {
    send: async ({ createResource }) => ['DELETE', `/identity-providers/${await createForMatrix(createResource)}`],
    statuses: administratorStatuses(204),
  },
  'identityProviders.setLogo': {
    send: async ({ createResource }) => {
      const id = await createForMatrix(createResource);
      return ['PUT', `/identity-providers/${id}/logo`, createWebpHeader(64, 64), { 'content-type': 'image/webp' }];
    },
    statuses: administratorStatuses(200),
  },
  'identityProviders.deleteLogo': {
    send: async ({ createResource }) => ['DELETE', `/identity-providers/${await createForMatrix(createResource)}/logo`],
    statuses: administratorStatuses(204),
  },
});
const admin = shop.admin(['identity_providers.manage', 'audit.read']);
const staff = shop.staff(scopeNames.filter((scope) => scope !== 'identity_providers.manage'));

const create = (body: object) => admin.callApi('POST', path, { body });
const errorFields = ({ body }: { body: { errors?: { pointer: string }[] } }): string[] => (body.errors ?? []).map(({ pointer }) => pointer);

test('a provider is created with the defaults of its preset, updated conditionally, audited and deleted', async () => {
  const { status, body, headers } = await create({ slug: 'google', preset: 'google', client_id: 'shop', client_secret: 'google-secret-1' });
  expect([status, body]).toMatchObject([
    201,
    {
      slug: 'google',
      name: 'Google',
      issuer: 'https://accounts.google.com',
      scopes: ['openid', 'email', 'profile', 'offline_access'],
      audience: 'everyone',
      status: 'enabled',
      redirect_uri: `${shop.origin}/sign-in/providers/google/callback`,
      version: 1,
    },
  ]);
  expect(Object.keys(body)).not.toContain('client_secret');
  const one = `${path}/${body.id}`;
  const etag = headers.get('etag') ?? '';
  const read = await admin.callApi('GET', one);
  expect([read.body, read.headers.get('etag')]).toEqual([body, etag]);
  expect((await admin.callApi('GET', one, { headers: { 'if-none-match': etag } })).status).toBe(304);
  const change = { button_label: 'Sign in with Google', creates_accounts: true, audience: 'customers' };
  const changed = await admin.callApi('PATCH', one, { body: change, headers: { 'if-match': etag } });
  expect([changed.status, changed.body]).toMatchObject([200, { ...change, name: 'Google', version: 2 }]);
  const unchanged = await admin.callApi('PATCH', one, { body: { audience: 'customers' } });
  expect([unchanged.status, unchanged.body.version]).toEqual([200, 2]);
  expect((await admin.callApi('PATCH', one, { body: change, headers: { 'if-match': etag } })).status).toBe(412);
  expect((await admin.callApi('DELETE', one, { headers: { 'if-match': etag } })).status).toBe(412);
  expect((await admin.callApi('DELETE', one)).status).toBe(204);
  expect((await admin.callApi('GET', one)).body.code).toBe('not_found');
  const audit = await admin.callApi('GET', '/api/v1/audit-events?limit=100');
  const actions = audit.body.data.filter(({ subject }: { subject: string }) => subject === 'identity_provider:google');
  expect(actions.map(({ action }: { action: string }) => action)).toEqual([
    'identity_provider.deleted',
    'identity_provider.updated',
    'identity_provider.created',
  ]);
  expect(JSON.stringify(audit.body)).not.toContain('google-secret-1');
});

test('the credential is stored encrypted, and can be replaced', async () => {
  const { body } = await create(newProvider('sealed'));
  const sealedCredential = async () => (await shop.db.em.fork().findOneOrFail(IdentityProviderEntity, { slug: 'sealed' })).sealedCredential;
  const before = await sealedCredential();
  expect(before).not.toContain('secret-sealed');
  await admin.callApi('PATCH', `${path}/${body.id}`, { body: { client_secret: 'another-secret-value' } });
  expect(await sealedCredential()).not.toBe(before);
});

test('409: the slug and the issuer are unique', async () => {
  const first = newProvider();
  await create(first);
  for (const field of ['slug', 'issuer'] as const) {
    const { status, body } = await create({ ...newProvider(), [field]: first[field] });
    expect([status, body.code, errorFields({ body })]).toEqual([409, 'conflict', [`#/${field}`]]);
  }
});

test.each([
  ['an issuer that is not public', { issuer: 'https://10.0.0.1' }, '#/issuer'],
  ['an issuer with a query', { issuer: 'https://login.example/?a=1' }, '#/issuer'],
  ['no openid scope', { scopes: ['email'] }, '#/scopes'],
  ['no secret', { client_secret: undefined }, '#/client_secret'],
  ['a private key without its method', { private_key: pem }, '#/private_key'],
  ['new accounts for staff', { audience: 'staff', creates_accounts: true }, '#/creates_accounts'],
  ['no break-glass administrator', { required_for_staff: true }, '#/break_glass_user_id'],
  ['an unknown break-glass administrator', { break_glass_user_id: 9_007_199_254_740_991 }, '#/break_glass_user_id'],
  ['a provider for customers that staff must use', { audience: 'customers', required_for_staff: true }, '#/required_for_staff'],
  ['the method of Apple', { token_endpoint_auth_method: 'apple_client_secret' }, '#/token_endpoint_auth_method'],
  ['no key', { token_endpoint_auth_method: 'private_key_jwt', client_secret: undefined, key_id: 'k' }, '#/private_key'],
  ['a key and a secret', { token_endpoint_auth_method: 'private_key_jwt', private_key: pem, key_id: 'k' }, '#/client_secret'],
  ['a key that is not a key', { token_endpoint_auth_method: 'private_key_jwt', private_key: 'key', key_id: 'k' }, '#/private_key'],
  ['an e-mail domain with an @', { email_domain: '@shop.example' }, '#/email_domain'],
  ['a slug with a slash', { slug: 'a/b' }, '#/slug'],
])('400: %s', async (_name, change, pointer) => {
  const { status, body } = await create({ ...newProvider(), ...change });
  expect([status, body.code]).toEqual([400, 'invalid_request']);
  expect(errorFields({ body })).toContain(pointer);
});

test('the error for an issuer that is not a URL names an issuer as an example', async () => {
  const { body } = await create({ ...newProvider(), issuer: 'login' });
  expect(body.errors).toMatchObject([
    { pointer: '#/issuer', detail: 'The URL must be an absolute URL such as https://login.example.com.' },
  ]);
});

test('Apple requires a P-256 key, its ID and the team', async () => {
  const apple = { slug: 'apple', preset: 'apple', client_id: 'example.shop.web' };
  expect(errorFields(await create(apple))).toEqual(['#/private_key', '#/key_id', '#/team_id']);
  const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({ format: 'pem', type: 'pkcs8' }).toString();
  const complete = { ...apple, key_id: 'KEY', team_id: 'TEAM' };
  expect(errorFields(await create({ ...complete, private_key: rsa }))).toEqual(['#/private_key']);
  const { status, body } = await create({ ...complete, private_key: pem });
  expect([status, body.scopes, body.token_endpoint_auth_method]).toEqual([
    201,
    ['openid', 'email', 'name', 'offline_access'],
    'apple_client_secret',
  ]);
});

let providerWithLogo = '';
beforeAll(async () => {
  providerWithLogo = `${path}/${(await create({ ...newProvider('with-logo'), name: 'Larkspur ID' })).body.id}`;
});
testLogoUploads({ shop, admin, path: () => providerWithLogo });

test('a new logo increments the version, is recorded in the audit log, and appears on the sign-in page', async () => {
  await admin.callApi('DELETE', `${providerWithLogo}/logo`);
  const { version } = (await admin.callApi('GET', providerWithLogo)).body;
  const setLogo = () =>
    admin.callApi('PUT', `${providerWithLogo}/logo`, { body: createWebpHeader(64, 64), headers: { 'content-type': 'image/webp' } });
  const [first, repeated] = [await setLogo(), await setLogo()];
  expect([first.body.version, repeated.body]).toEqual([version + 1, first.body]);
  const audit = await admin.callApi('GET', '/api/v1/audit-events?action=identity_provider.updated&limit=1');
  expect(audit.body.data).toMatchObject([{ subject: 'identity_provider:with-logo', details: { fields: ['logo'] } }]);
  const signInPage = async () => (await fetch(`${shop.origin}/sign-in`, { headers: { accept: 'text/html' } })).text();
  const image = `<img class="provider-logo" src="${new URL(first.body.logo.url).pathname}" alt="" width="20" height="20" />`;
  expect(await signInPage()).toMatch(new RegExp(`${image}\\s*Continue with Larkspur ID`));
  await admin.callApi('DELETE', `${providerWithLogo}/logo`);
  expect(await signInPage()).not.toContain(image);
});

test('two providers can have the same logo', async () => {
  const { body } = await create(newProvider());
  const logo = { body: createWebpHeader(32, 32), headers: { 'content-type': 'image/webp' } };
  const urls = [];
  for (const one of [providerWithLogo, `${path}/${body.id}`]) urls.push((await admin.callApi('PUT', `${one}/logo`, logo)).body.logo.url);
  expect(urls[0]).toBe(urls[1]);
  await admin.callApi('DELETE', `${path}/${body.id}`);
  expect((await fetch(urls[0])).status).toBe(200);
});

test('staff cannot obtain the scope', async () => {
  expect((await staff.callApi('GET', path)).status).toBe(403);
});
