import type { KeyObject } from 'node:crypto';
import { scopeNames } from '@mandate/contract';
import type { JWK } from 'jose';
import { errors, interactionPolicy, Provider, type AdapterFactory, type Configuration, type KoaContextWithOIDC } from 'oidc-provider';
import type { Em } from '../../database/entity-manager/entity-manager.ts';
import { findAccount } from '../accounts/account-store.ts';
import { appSince } from '../second-factors/totp.ts';
import { oneFactor, twoFactors } from '../protocol/acr-and-amr.ts';
import { clientStore, compareHashedSecrets } from '../clients/client-adapter.ts';
import { isAskedEveryTime, loadGrant } from '../grants/consent.ts';
import { cookieNames } from '../protocol/cookie-names.ts';
import { proofAlgorithms } from '../tokens/dpop-proof.ts';
import { apiAudience, audiences, endpoints, pathOf } from '../protocol/endpoints.ts';
import { authenticationTimeClaim, recordIssuedToken } from '../tokens/access-token-records.ts';
import { type AroundRefresh, replayRefreshResponses, stopAtRepeatedRefresh } from '../refresh/replay-refresh-response.ts';
import { isOriginOfRedirect } from '../protocol/redirect-origins.ts';
import type { ProtocolPages } from '../pages/views/provider-pages.ts';
import { lifetimes } from '../protocol/lifetimes.ts';
import { apiScopesAmong, identityScopes } from '../protocol/oauth-scopes.ts';
import { signingKey } from '../signing-keys/in-process-es256-key.ts';
import { registrationPolicy } from '../clients/dynamic-client-registration.ts';

type EngineParts = {
  readonly em: Em;
  readonly issuer: string;
  readonly store: AdapterFactory;
  /** The first of each algorithm signs; all are published. */
  readonly keys: readonly JWK[];
  readonly referenceKey: KeyObject;
  /** With the presented token, it seals the response that a repeated refresh returns. */
  readonly refreshResponseKey: KeyObject;
  readonly refreshGraceSeconds: number;
  readonly cookieKey: string;
  readonly pages: ProtocolPages;
};

export function createEngine(parts: EngineParts): Provider {
  const { em, issuer, store, cookieKey, pages } = parts;
  const cookies = cookieNames(issuer);
  const secure = issuer.startsWith('https:');
  const { refreshResponseKey: key, refreshGraceSeconds: graceSeconds } = parts;
  const EngineProvider = providerWithRefresh(replayRefreshResponses({ store, key, graceSeconds }));
  const provider = new EngineProvider(issuer, {
    adapter: (model) => (model === 'Client' ? clientStore(em) : store(model)),
    jwks: { keys: parts.keys.map(signingKey) },
    routes: { ...endpoints },
    cookies: {
      keys: [cookieKey],
      // the same value at other paths: one cookie shows both the pages and the way back to the application which interaction is meant
      names: { session: cookies.session, interaction: cookies.interaction, resume: cookies.interaction },
      long: { httpOnly: true, sameSite: 'lax', secure, signed: true },
      short: { httpOnly: true, sameSite: 'lax', secure, signed: true },
    },
    findAccount: findAccount(em),
    loadExistingGrant: loadGrant(em, audiences(issuer)),
    interactions: {
      policy: policy(em),
      url: (_ctx, interaction) => `${pathOf(issuer)}/${interaction.prompt.name === 'consent' ? 'consent' : 'sign-in'}/${interaction.uid}`,
    },
    fetch: refuseRequest,
    renderError: pages.renderError,
    extraTokenClaims: authenticationTimeClaim,
    formats: { customizers: { jwt: recordIssuedToken(store, parts.referenceKey) } },
    ...protocol,
    features: features(issuer, pages),
  });
  compareHashedSecrets(provider);
  return provider;
}

/** The engine registers its own handlers while it is constructed, which is the only way to get hold of one. */
const providerWithRefresh = (around: AroundRefresh): typeof Provider =>
  class extends Provider {
    override registerGrantType<Params extends object>(name: string, handle: GrantHandler<Params>, ...more: NamesOfParameters): void {
      const refresh: GrantHandler<Params> = (ctx) => around(ctx, async () => handle(ctx));
      super.registerGrantType(name, name === 'refresh_token' ? refresh : handle, ...more);
    }
  };
type GrantHandler<Params extends object> = Parameters<typeof Provider.prototype.registerGrantType<Params>>[1];
type NamesOfParameters = Parameters<Provider['registerGrantType']> extends [unknown, unknown, ...infer Rest] ? Rest : never;
/** The library itself sends no requests: whatever URL it may come to know, nothing is connected to. Documents are fetched by resolve-client-id-url.ts. */
const refuseRequest: NonNullable<Configuration['fetch']> = async () => {
  throw new Error('the authorization server requests no URLs of applications');
};

const protocol: Configuration = {
  responseTypes: ['code'],
  discovery: { client_id_metadata_document_supported: true },
  clientAuthMethods: ['client_secret_basic', 'client_secret_post', 'none'],
  enabledJWA: { dPoPSigningAlgValues: [...proofAlgorithms] },
  pkce: { required: () => true },
  scopes: [...identityScopes, ...scopeNames],
  acrValues: [oneFactor, twoFactors],
  claims: { openid: ['sub', 'acr', 'amr', 'auth_time'], profile: ['name', 'updated_at'], email: ['email', 'email_verified'] },
  conformIdTokenClaims: false, // many clients read name and e-mail address from the ID token and never ask further
  clientDefaults: { id_token_signed_response_alg: 'RS256' },
  rotateRefreshToken,
  issueRefreshToken: async (_ctx, client) => client.grantTypeAllowed('refresh_token'),
  expiresWithSession: async () => false, // an application keeps its access when the person signs out of the browser
  allowOmittingSingleRegisteredRedirectUri: false,
  acceptQueryParamAccessTokens: false,
  /** A page may read who signed in, and that of a public application its tokens too, at the origin of an address people come back to. */
  clientBasedCORS: (ctx, origin, client) =>
    (ctx.oidc.route === 'userinfo' || client.clientAuthMethod === 'none') && isOriginOfRedirect(client.redirectUris ?? [], origin),
  extraParams: { offline_access: keepOfflineAccess },
  ttl: {
    AccessToken: lifetimes.accessToken,
    ClientCredentials: lifetimes.accessToken,
    AuthorizationCode: lifetimes.authorizationCode,
    RefreshToken: lifetimes.refreshToken,
    DeviceCode: lifetimes.deviceCode,
    Grant: lifetimes.grant,
    IdToken: lifetimes.idToken,
    Interaction: lifetimes.interaction,
    Session: lifetimes.session,
  },
};

/**
 * A refresh token that is bound to a key (RFC 9449) is worth nothing to whoever copies it, so it need not be used up: who is
 * cut off before the answer asks again (RFC 9700 section 4.14.2 has either). It is replaced when it comes to its end.
 */
function rotateRefreshToken(ctx: KoaContextWithOIDC): boolean {
  stopAtRepeatedRefresh(ctx); // the engine asks this after its last check, and before it issues anything
  const { RefreshToken: token } = ctx.oidc.entities;
  return !token?.isSenderConstrained() || token.ttlPercentagePassed() >= 70;
}

const features = (issuer: string, pages: ProtocolPages): Configuration['features'] => ({
  devInteractions: { enabled: false },
  externalSigningSupport: { enabled: true, ack: 'experimental-01' },
  clientCredentials: { enabled: true },
  revocation: { enabled: true, allowedPolicy: async (_ctx, client, token) => token.clientId === client.clientId },
  introspection: { enabled: true, allowedPolicy: async (_ctx, client, token) => token.clientId === client.clientId },
  pushedAuthorizationRequests: { enabled: true },
  dPoP: { enabled: true },
  deviceFlow: {
    enabled: true,
    mask: '****-****',
    userCodeInputSource: pages.askForCode,
    userCodeConfirmSource: pages.confirmDevice,
    successSource: pages.deviceConnected,
  },
  registration: registrationPolicy,
  rpInitiatedLogout: { enabled: true, logoutSource: pages.confirmSignOut, postLogoutSuccessSource: pages.signedOut },
  resourceIndicators: {
    enabled: true,
    useGrantedResource: async () => true,
    /** Scopes of the API mean a token for the API; without one, it is a plain sign-in and the token is for userinfo. */
    defaultResource: async (ctx, client, among) => {
      if (among !== undefined) return among;
      const params = ctx.oidc.params;
      // RFC 6749 section 3.3: an application that acts for itself and names no scope gets all it is registered for
      if (params?.['grant_type'] === 'client_credentials') {
        params['scope'] ??= client.scope;
        return apiAudience(issuer);
      }
      const scope = params?.['scope'];
      return typeof scope === 'string' && apiScopesAmong(scope.split(' ')).length > 0 ? apiAudience(issuer) : undefined;
    },
    getResourceServerInfo: async (_ctx, resource) => {
      if (!audiences(issuer).includes(resource)) throw new errors.InvalidTarget('the resource is not known here');
      return {
        scope: scopeNames.join(' '),
        audience: resource,
        accessTokenTTL: lifetimes.accessToken,
        accessTokenFormat: 'jwt',
        jwt: { sign: { alg: 'ES256' } },
      };
    },
  },
});

/** The library's own questions, and one more: a session whose account is gone or stopped asks for a sign-in, where the library would fail. */
function policy(em: Em): interactionPolicy.DefaultPolicy {
  const { Check, base } = interactionPolicy;
  const prompts = base();
  prompts
    .get('login')
    ?.checks.add(
      new Check('account_gone', 'the account cannot be used', 'login_required', ({ oidc }) =>
        oidc.session?.accountId !== undefined && oidc.account === undefined ? Check.REQUEST_PROMPT : Check.NO_NEED_TO_PROMPT,
      ),
    );
  prompts
    .get('login')
    ?.checks.add(
      new Check('second_factor', 'a second step is asked for', 'login_required', async ({ oidc }) =>
        (await lacksSecondFactor(em, oidc)) ? Check.REQUEST_PROMPT : Check.NO_NEED_TO_PROMPT,
      ),
    );
  const consentChecks = prompts.get('consent')?.checks;
  // the library asks for the consent to every native application, even to one that authenticates
  consentChecks?.remove('native_client_prompt');
  consentChecks?.add(
    new Check('public_native_client', 'public native clients require interaction', 'interaction_required', ({ oidc }) =>
      oidc.client && isAskedEveryTime(oidc.client) && !oidc.result?.consent ? Check.REQUEST_PROMPT : Check.NO_NEED_TO_PROMPT,
    ),
    0,
  );
  return prompts;
}

/** An application may ask for two proofs (RFC 9470 section 4); who has set up a second step then takes it, also when signed in without. */
async function lacksSecondFactor(em: Em, { params, session, account }: KoaContextWithOIDC['oidc']): Promise<boolean> {
  const wanted = typeof params?.['acr_values'] === 'string' ? params['acr_values'].split(' ') : [];
  if (!wanted.includes(twoFactors) || !account || session?.acr === twoFactors) return false;
  return (await appSince(em, Number(account.accountId))) !== undefined;
}

/** The library drops `offline_access` unless the request says `prompt=consent`. People are always asked here, so it stays. */
function keepOfflineAccess(ctx: KoaContextWithOIDC): void {
  const { params, client, body } = ctx.oidc;
  const asked = ctx.method === 'POST' ? body?.['scope'] : ctx.query['scope'];
  if (!params || typeof asked !== 'string' || !asked.split(' ').includes('offline_access')) return;
  const scopes = new Set(typeof params['scope'] === 'string' ? params['scope'].split(' ') : []);
  if (client?.grantTypeAllowed('refresh_token')) params['scope'] = [...scopes.add('offline_access')].join(' ');
}
