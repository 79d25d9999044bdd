import { createHmac, createSecretKey } from 'node:crypto';
import express from 'express';
import type { AdapterFactory } from 'oidc-provider';
import { keepCommandLineApplication } from '../applications/command-line.ts';
import { keepReferencePageApplication } from '../applications/reference-page.ts';
import type { Database, Em } from '../database/orm.ts';
import type { VerifyAccessToken } from '../http/principal.ts';
import type { SecretKeys } from '../secret-keys.ts';
import { apiAudience, mcpAudience, pathOf } from './endpoints.ts';
import { attemptLimits, type AttemptLimits } from './attempt-limits.ts';
import { noteBrowsers } from './browser-sessions.ts';
import { recordConnectionUse } from './connections.ts';
import { FormGuard } from './csrf.ts';
import { devicePolling } from './device-polling.ts';
import { proposeCodeOnly } from './device-verification.ts';
import { createEngine } from './engine.ts';
import { acceptIssuedTokens } from './issued-tokens.ts';
import { limitClientSecrets } from './limit-client-secrets.ts';
import { limitDeviceCodes } from './limit-device-codes.ts';
import { pinOrigin } from './origin.ts';
import type { PageContext } from './page-context.ts';
import { failureHandler, wrongHost } from './page-failures.ts';
import { pageRoutes } from './page-routes.ts';
import type { Setting, Shop } from './pages/page.ts';
import { pageScript } from './pages/page-script.ts';
import { protocolPages } from './pages/protocol-pages.ts';
import { stylesheet } from './pages/stylesheet.ts';
import { english } from './pages/words.ts';
import { Challenges } from './passkeys.ts';
import { bodyFirst } from './request-body.ts';
import { RunningEngine } from './running-engine.ts';
import { openSigningKeys, type SigningKeysOptions } from './signing-keys.ts';
import { tokenStore } from './token-store.ts';
import { type OnTokenOperation, tellTokenOperations } from './token-operations.ts';
import { keepRevocation, tokenTransaction } from './token-transaction.ts';
import { accessTokenVerifier } from './verify-access-token.ts';
import { noteFailure, wireCorrections } from './wire-corrections.ts';

export type AuthorizationServerParts = {
  readonly db: Database;
  readonly issuer: string;
  readonly keys: Pick<SecretKeys, 'cookies' | 'signingKeys' | 'mail' | 'secondFactor'>;
  readonly log: { error(details: object, message: string): void };
  readonly shop?: Shop;
  /** Where codes and tokens are kept; another one only to see what goes wrong with it. */
  readonly store?: (em: Em) => AdapterFactory;
  /** How often signing keys follow each other; another schedule only to see it happen. */
  readonly signingKeys?: SigningKeysOptions;
  /** How often may be guessed; without limits only to see what goes wrong. */
  readonly limits?: AttemptLimits;
  /** False where there is no way to send e-mail. */
  readonly canMail?: boolean;
  /** Told of every token that was given out, refused or given back. */
  readonly onTokenOperation?: OnTokenOperation | undefined;
};

export type AuthorizationServer = {
  /** The protocol's endpoints and the pages people see. Everything else it leaves to the next handler. */
  readonly router: express.Router;
  readonly verifyAccessToken: VerifyAccessToken;
  /** The same for the tools of the API, which have tokens of their own. */
  readonly verifyMcpToken: VerifyAccessToken;
  /** What pages are made with. */
  readonly setting: Setting;
  /** After they were changed; otherwise this process learns of it within seconds, as every other does. */
  readonly readSigningKeysAgain: () => void;
};

export async function authorizationServer(parts: AuthorizationServerParts): Promise<AuthorizationServer> {
  const { db, issuer, keys, log, shop = { name: 'Mandate', accent: '#1d4ed8' }, canMail = true } = parts;
  const { em } = db;
  const { limits = attemptLimits(em) } = parts;
  const purpose = (name: string): Buffer => createHmac('sha256', keys.cookies).update(name).digest();
  const referenceKey = createSecretKey(purpose('token references'));
  const signingKeys = await openSigningKeys(em, Buffer.from(keys.signingKeys), parts.signingKeys);
  await keepCommandLineApplication(em);
  await keepReferencePageApplication(em, issuer);

  const verification = { issuer, keys: signingKeys.verify, referenceKey };
  const css = stylesheet(shop.accent);
  const setting: Setting = { shop, words: english, stylesheetPath: css.path, scriptPath: pageScript.path, base: pathOf(issuer) };
  const store = (parts.store ?? tokenStore)(em);
  const cookieKey = purpose('cookies').toString('base64url');
  const pages = protocolPages(setting, issuer);
  const engine = await RunningEngine.start(signingKeys, (current) => {
    const provider = createEngine({ em, issuer, store, keys: current, referenceKey, cookieKey, pages });
    provider.proxy = true; // so that it believes pinOrigin, which knows the scheme
    provider.silent = true; // wireCorrections logs
    provider.on('grant.revoked', keepRevocation(em));
    provider.on('server_error', noteFailure(log));
    for (const middleware of [
      ...(parts.onTokenOperation ? [tellTokenOperations(parts.onTokenOperation)] : []),
      wireCorrections(issuer, log),
      bodyFirst,
      limitClientSecrets(em, limits),
      limitDeviceCodes(limits, pages),
      devicePolling(em),
      proposeCodeOnly,
      acceptIssuedTokens(verification),
      tokenTransaction(em),
      recordConnectionUse(em),
      noteBrowsers(em),
    ])
      provider.use(middleware);
    return provider;
  });

  const context: PageContext = {
    em,
    get provider() {
      return engine.provider;
    },
    setting,
    forms: new FormGuard(purpose('forms'), issuer),
    limits,
    canMail,
    keys,
    challenges: new Challenges(purpose('passkey challenges')),
    onTokenOperation: parts.onTokenOperation ?? (() => undefined),
  };
  return {
    router: routes(context, engine.handle, css, log),
    verifyAccessToken: accessTokenVerifier(em, verification, apiAudience(issuer)),
    verifyMcpToken: accessTokenVerifier(em, verification, mcpAudience(issuer)),
    setting,
    readSigningKeysAgain: () => signingKeys.readAgain(),
  };
}

function routes(
  context: PageContext,
  engine: RunningEngine['handle'],
  css: ReturnType<typeof stylesheet>,
  log: AuthorizationServerParts['log'],
): express.Router {
  const { issuer } = context.provider;
  const pin = pinOrigin(issuer, wrongHost(context));
  return (
    express
      .Router({ caseSensitive: true, strict: true })
      // before the pages: this is what programs ask for, and there are many pages to compare a path with
      .all(['/oauth/{*path}', '/.well-known/openid-configuration', '/.well-known/oauth-authorization-server'], pin, engine)
      .get(css.path, keptForever('css', css.text))
      .get(pageScript.path, keptForever('js', pageScript.text))
      .use(pageRoutes(context, pin))
      .use(failureHandler(context, log))
  );
}

/** Its path has its hash. */
const keptForever =
  (type: string, text: string): express.RequestHandler =>
  (_req, res) => {
    res.set({ 'Cache-Control': 'public, max-age=31536000, immutable', 'X-Content-Type-Options': 'nosniff' }).type(type).send(text);
  };
