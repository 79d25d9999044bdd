import { Secret, TOTP } from 'otpauth';
import { vi } from 'vitest';
import { z } from 'zod';
import { createApp } from '../../../server/app/app.ts';
import type { Database } from '../../../server/database/entity-manager/entity-manager-type.ts';
import { createLogger } from '../../../server/logging/logger.ts';
import { createAuthorizationServer } from '../../../server/oauth/authorization-server.ts';
import { findActiveAccountAndPasswordHash, getPasswordSetTimeMs } from '../../../server/oauth/accounts/accounts-and-passwords.ts';
import { encryptEmailCodeFormState } from '../../../server/oauth/pages/handlers/sign-in/require-email-code-after-failed-attempts.ts';
import { encryptShownRecoveryCodes } from '../../../server/oauth/pages/handlers/account/security-page-authenticator-and-recovery-codes.ts';
import { encryptPendingAccountLink } from '../../../server/oauth/pages/handlers/identity-providers/link-account-by-email.ts';
import { insertIdentityProvider } from '../identity-providers/fake-identity-provider.ts';
import { storeEmailedLinkAndReturnToken, type EmailLinkPurpose } from '../../../server/oauth/accounts/emailed-one-time-links.ts';
import { issueFirstFactorTicket } from '../../../server/oauth/second-factors/first-factor-ticket.ts';
import { deriveKeys } from '../../../server/crypto/derived-keys-and-server-secret.ts';
import { HttpBrowser, buildFormRequest, type HtmlPage, type SendRequest } from '../browser/browser.ts';
import { buildAuthorizationRequest, obtainAuthorizationCode, authorizationPath, cliClient, completeSignUp } from './oauth-flow.ts';
import { readAllRows } from '../services/database-dump.ts';
import { testServerSecret } from '../server/test-server-secret.ts';

const keys = deriveKeys(testServerSecret);

export type PostPaths = {
  /** All form paths that the pages register. */
  readonly formPaths: readonly string[];
  /** All paths with a POST route in the server's routers, except API paths. */
  readonly routerPaths: readonly string[];
  /** All paths with a POST route in oidc-provider. */
  readonly enginePaths: readonly string[];
};

/** An internal module of oidc-provider that has no type declarations. */
const engineRouterModule: string = 'oidc-provider/lib/helpers/router.js';

/** Collects the POST paths from a server's form registration and routers. */
export async function readPostPaths(db: Database): Promise<PostPaths> {
  const options = { db, issuer: 'https://shop.example', keys, log: createLogger(false) };
  const routerModule: unknown = await import(engineRouterModule);
  const { default: EngineRouter } = z
    .object({ default: z.custom<new () => { post(name: string, path: string): void }>() })
    .parse(routerModule);
  const post = vi.spyOn(EngineRouter.prototype, 'post');
  try {
    const { formPaths } = await createAuthorizationServer(options);
    const ofEngine = post.mock.calls.map(([, path]) => String(path));
    const { router } = await createApp(options);
    return { formPaths, routerPaths: postPaths(router).filter((path) => !path.startsWith('/api')), enginePaths: ofEngine };
  } finally {
    post.mockRestore();
  }
}

type Layer = {
  readonly route?: { readonly path: string | readonly string[]; readonly methods: Readonly<Record<string, boolean>> };
  readonly handle: { readonly stack?: readonly Layer[] };
};

function postPaths(router: { readonly stack?: unknown }): string[] {
  const layers = z.custom<readonly Layer[]>().parse(router.stack ?? []);
  return layers.flatMap(({ route, handle }) => {
    if (!route) return postPaths(handle);
    const paths: readonly string[] = typeof route.path === 'string' ? [route.path] : route.path;
    return route.methods['post'] === true || route.methods['_all'] === true ? paths : [];
  });
}

/** Endpoints that accept requests from other sites and applications. All other POST paths of oidc-provider are forms. */
const protocolEndpoints = new Set([
  '/oauth/authorize',
  '/oauth/device-authorization',
  '/oauth/introspection',
  '/oauth/logout',
  '/oauth/par',
  '/oauth/registration',
  '/oauth/revocation',
  '/oauth/token',
  '/oauth/userinfo',
]);
export const engineFormPaths = ({ enginePaths: ofEngine }: PostPaths): string[] => ofEngine.filter((path) => !protocolEndpoints.has(path));
export const listFormPaths = (paths: PostPaths): string[] => [...paths.formPaths, ...engineFormPaths(paths)];

export type FormFields = Record<string, string>;

/** A signed-in user with data that every form can change, for tests of cross-site request forgery. */
export type CsrfVictim = {
  readonly browser: HttpBrowser;
  readonly email: string;
  /** Returns the URL path of a form, including the ID of a pending request or the link token if the form requires one. */
  readonly formTarget: (form: string) => string;
  /** Returns a complete set of form fields: the page's hidden fields, and a value for every other field. */
  readonly completeFields: (form: string) => Promise<FormFields>;
};

type Server = { readonly origin: string; readonly db: Database };
let victims = 0;

export async function createCsrfVictim({ origin, db }: Server, send: SendRequest = fetch): Promise<CsrfVictim> {
  const account = { name: 'Anna Test', email: `victim.${(victims += 1)}@example.com`, password: 'correct horse battery' };
  const browser = new HttpBrowser(origin, undefined, send);
  await completeSignUp(origin, browser, await browser.open('/sign-up'), account);
  await setUpAuthenticatorApp(browser);
  const id = await insertPasskey(db, account.email);
  const apiKey = await insertApiKey(db, id.userId);
  const { query } = buildAuthorizationRequest();
  await obtainAuthorizationCode(origin, { browser });
  const [connection] = await db.em.fork().execute<{ id: number }[]>('select max(id) as id from connections');
  const startPendingRequest = async (prompt: string) =>
    (await browser.open(authorizationPath({ ...query, prompt }))).url.pathname.split('/').at(-1) ?? '';
  const uids = { signIn: await startPendingRequest('login'), consent: await startPendingRequest('consent') };
  const links = await createLinks(db, id.userId, account.email);
  const csrf = csrfTokenOnPage(await browser.open('/account'));
  const linked = await createProviderLinks(db, id.userId, csrf);
  const userCode = await requestUserCode(origin, send);
  const target = (form: string): string => {
    const token = links[form.replace('/sign-in/:uid', '')];
    const uid = form.startsWith('/consent') ? uids.consent : uids.signIn;
    if (form.endsWith('/link-confirmation')) return `/sign-in/providers/${providerSlug}/link-confirmation?${linked.query}`;
    return (
      form.replace(':uid', uid).replace(':slug', providerSlug).replace(':app', String(connection?.id)) +
      (token === undefined ? '' : `?token=${token}`)
    );
  };
  const page = async (form: string): Promise<HtmlPage> => {
    const formPage = await browser.open(form === '/oauth/logout/confirm' ? '/oauth/logout' : target(form));
    return /name="(csrf|xsrf)"/.test(formPage.text) ? formPage : browser.open('/account');
  };
  return {
    browser,
    email: account.email,
    formTarget: target,
    async completeFields(form) {
      const hidden = Object.fromEntries(z.custom<URLSearchParams>().parse(buildFormRequest(await page(form), {}).body));
      const formToken = hidden['csrf'] ?? '';
      const signIn = { accountId: id.userId, passwordSetAt: await readPasswordSetAt(db, id.userId), next: '/account' };
      const proof = form.endsWith('/e-mail-code')
        ? encryptEmailCodeFormState(
            keys.secondFactor,
            formToken,
            { ...signIn, step: 'password', code: defaultFormValues['code'] ?? '' },
            new Date(),
          )
        : issueFirstFactorTicket(keys.secondFactor, formToken, signIn, new Date());
      const sealed = encryptShownRecoveryCodes(keys.secondFactor, id.userId, ['abcde-fghij']);
      const identifiers = { app: String(connection?.id), id: String(id.passkey), key: String(apiKey), proof, sealed, user_code: userCode };
      const provider = { pending: linked.pending, slug: providerSlug };
      const removed = form === '/account/linked-accounts/remove' ? { id: linked.id } : {};
      return { ...defaultFormValues, ...identifiers, ...provider, ...removed, ...hidden };
    },
  };
}

/** Values for all form fields that users can fill in. Add new fields here. */
export const defaultFormValues: FormFields = {
  code: '000000',
  confirm: 'yes',
  decision: 'allow',
  email: 'attacker@example.com',
  everywhere: 'yes',
  limit_until: '2036-12-31',
  locale: 'de',
  logout: 'yes',
  name: 'Attacker',
  passkey: '{}',
  password: 'attacker horse battery',
};

async function setUpAuthenticatorApp(browser: HttpBrowser): Promise<void> {
  const page = await browser.open('/account/authenticator-app');
  const secret = /<code>([^<]+)<\/code>/.exec(page.text)?.[1]?.replaceAll(' ', '') ?? '';
  const result = await browser.submit(page, { code: new TOTP({ secret: Secret.fromBase32(secret) }).generate() });
  if (result.response.status !== 200) throw new Error(`the authenticator app was not set up: ${result.text}`);
}

async function insertPasskey({ em }: Database, email: string): Promise<{ userId: number; passkey: number }> {
  const [row] = await em.fork().execute<{ id: number; user_id: number }[]>(
    `insert into passkeys (user_id, credential_id, public_key, counter, name, added_at)
     select id, ?, '', 0, 'Phone', now() from users where email = ? returning id, user_id`,
    [`credential of ${email}`, email],
  );
  return { userId: Number(row?.user_id), passkey: Number(row?.id) };
}

async function readPasswordSetAt({ em }: Database, userId: number): Promise<number> {
  const account = await findActiveAccountAndPasswordHash(em.fork(), userId);
  return account ? getPasswordSetTimeMs(account) : 0;
}

async function insertApiKey({ em }: Database, userId: number): Promise<number> {
  const [row] = await em.fork().execute<{ id: number }[]>(
    `insert into api_keys (user_id, name, prefix, secret_hash, scopes, created_at, expires_at)
     values (?, 'Backup', 'mk_00000000', ?, '{orders.read}', now(), now() + interval '1 day') returning id`,
    [userId, `hash of a key of ${userId}`],
  );
  return Number(row?.id);
}

async function createLinks(db: Database, userId: number, email: string): Promise<Record<string, string>> {
  const link = (purpose: EmailLinkPurpose, address: string, user: number | null) =>
    storeEmailedLinkAndReturnToken(db.em.fork(), { purpose, email: address, userId: user }, new Date());
  return {
    '/sign-up/confirm': await link('sign_up', `new.${email}`, null),
    '/password-reset/confirm': await link('password_reset', email, userId),
    '/account/email/confirm': await link('email_change', `other.${email}`, userId),
  };
}

const providerSlug = 'example';

/** Stores a provider that cannot be reached, a linked account, and an account that is waiting to be linked by e-mail. */
async function createProviderLinks(db: Database, userId: number, csrf: string): Promise<{ id: string; pending: string; query: string }> {
  const em = db.em.fork();
  const [known] = await em.execute('select 1 from identity_providers where slug = ?', [providerSlug]);
  const provider = { issuer: 'https://provider.invalid', clientSecret: 'secret of a provider that cannot be reached' };
  if (!known) await insertIdentityProvider(db, provider, { slug: providerSlug });
  const insertion = `insert into linked_accounts (user_id, issuer, subject, label, linked_at) values (?, ?, ?, 'Anna', now()) returning id`;
  const [linked] = await em.execute<{ id: number }[]>(insertion, [userId, provider.issuer, `subject of ${userId}`]);
  const email = `owner.${userId}@example.com`;
  const [owner] = await em.execute<{ id: number }[]>(
    `insert into users (name, email, email_verification) values ('Owner', ?, 'verified') returning id`,
    [email],
  );
  const ownerId = Number(owner?.id);
  const link = { slug: providerSlug, issuer: provider.issuer, subject: `subject of ${email}`, label: email, userId: ownerId, csrf };
  const until = Date.now() + 3_600_000;
  const pending = encryptPendingAccountLink({ ...link, interactionUid: null, until }, keys.identityProviders);
  const token = await storeEmailedLinkAndReturnToken(em, { purpose: 'account_link', email, userId: ownerId }, new Date());
  return { id: String(linked?.id), pending, query: new URLSearchParams({ token, pending }).toString() };
}

const csrfTokenOnPage = ({ text }: HtmlPage): string => /name="csrf" value="([^"]+)"/.exec(text)?.[1] ?? '';

async function requestUserCode(origin: string, send: SendRequest): Promise<string> {
  const body = new URLSearchParams({ client_id: cliClient.clientId, scope: 'openid' });
  const response = await new HttpBrowser(origin, undefined, send).request('/oauth/device-authorization', { method: 'POST', body });
  return z.object({ user_code: z.string() }).parse(await response.json()).user_code;
}

/** Returns all database rows except attempt counters and sessions, which can change even when a form is rejected. */
export async function readFormState(db: Database): Promise<string[]> {
  return (await readAllRows(db, ['attempts'])).filter((row) => !row.startsWith('oauth_records (Session,'));
}
