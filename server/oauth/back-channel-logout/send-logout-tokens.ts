import { randomUUID } from 'node:crypto';
import { type InferEntity, LockMode } from '@mikro-orm/core';
import { importJWK, SignJWT, type JWK } from 'jose';
import { Application } from '../../applications/application.entity.ts';
import type { EntityManager } from '../../database/entity-manager/entity-manager-type.ts';
import { leaseLockedRowsAndCountAttempt } from '../../database/queries/lease-locked-rows.ts';
import { type NetworkPolicy, withSsrfProtectedConnection } from '../../outgoing-http/ssrf-protected-connection.ts';
import { getIdTokenSigningAlgorithm } from '../../applications/id-token-signing-algorithm.ts';
import { RotatingSigningKeyCache } from '../signing-keys/rotating-signing-key-cache.ts';
import { LogoutNotification } from './logout-notification.entity.ts';

export type LogoutTokenSenderOptions = {
  readonly em: EntityManager;
  readonly issuer: string;
  readonly network: NetworkPolicy;
  /** Key that encrypts the signing keys. */
  readonly signingKeyEncryptionKey: Buffer;
  readonly log: { warn(details: object, message: string): void };
};

const secondMs = 1_000;
/** Total timeout for an attempt, including DNS lookup, connection, request and response. */
const attemptTimeoutMs = 5 * secondMs;
/** Time for which a process reserves a notification, longer than any attempt can take. */
const leaseMs = 60 * secondMs;
const batchSize = 20;
/** Lifetime of a logout token in seconds, as recommended by OpenID Connect Back-Channel Logout 1.0 section 2.4. */
const tokenLifetimeSeconds = 120;
/** Maximum number of bytes read from a response. The response body is neither stored nor displayed. */
const responseBytesMax = 64 * 1024;
const maxAttempts = 7;
/**
 * Delay before the next attempt: 5 seconds after the first attempt, and six times the previous delay after each further attempt (13 hours
 * in total).
 */
const retryDelayMs = (attempts: number): number => 5 * secondMs * 6 ** (attempts - 1);

const logoutEvent = 'http://schemas.openid.net/event/backchannel-logout';

type Notification = InferEntity<typeof LogoutNotification>;
type Receiver = Pick<Application, 'clientId' | 'backchannelLogoutUri' | 'idTokenSignedResponseAlg' | 'securityProfile'>;

/**
 * Sends queued logout tokens (OpenID Connect Back-Channel Logout 1.0 section 2.5). Failed attempts are retried with increasing delays. If
 * the process crashes, no token is lost, but an application may receive two tokens for the same session.
 */
export class LogoutTokenSender {
  readonly #options: LogoutTokenSenderOptions;
  readonly #signingKeys: RotatingSigningKeyCache;

  constructor(options: LogoutTokenSenderOptions) {
    this.#options = options;
    this.#signingKeys = new RotatingSigningKeyCache(options.em, options.signingKeyEncryptionKey);
  }

  /** Sends one batch of tokens that are due, and returns the batch size. */
  async sendBatch(signal: AbortSignal, now = new Date()): Promise<number> {
    const claimed = await this.#options.em.fork().transactional((em) => claimDueNotifications(em, now));
    if (claimed.length === 0) return 0;
    const applicationIds = claimed.map(({ application }) => application);
    const receivers = await this.#options.em.fork().find(Application, { id: { $in: applicationIds }, status: 'active' });
    const receiversById = new Map(receivers.map((receiver) => [receiver.id, receiver]));
    await Promise.all(claimed.map((notification) => this.#notify(notification, receiversById.get(notification.application), signal)));
    return claimed.length;
  }

  async #notify(notification: Notification, receiver: Receiver | undefined, signal: AbortSignal): Promise<void> {
    const { id, attempts } = notification;
    const em = this.#options.em.fork();
    const failure = receiver?.backchannelLogoutUri == null ? undefined : await this.#attempt(notification, receiver, signal);
    if (failure === undefined) return void (await em.nativeDelete(LogoutNotification, { id, attempts }));
    if (signal.aborted) return; // another process sends the token when the lease has expired
    const isFinal = attempts >= maxAttempts;
    const details = { client_id: receiver?.clientId, attempts, err: failure };
    this.#options.log.warn(details, isFinal ? 'gave up sending a logout token' : 'a logout token will be sent again');
    if (isFinal) await em.nativeDelete(LogoutNotification, { id, attempts });
    else await em.nativeUpdate(LogoutNotification, { id, attempts }, { dueAt: new Date(Date.now() + retryDelayMs(attempts)) });
  }

  /** Sends one token. Returns why the attempt failed, or undefined if the application acknowledged the token. */
  async #attempt(notification: Notification, receiver: Receiver, signal: AbortSignal): Promise<unknown> {
    try {
      const token = await this.#createLogoutToken(notification, receiver);
      const statusCode = await postLogoutToken(receiver.backchannelLogoutUri ?? '', token, this.#options.network, signal);
      return statusCode >= 200 && statusCode < 300 ? undefined : new Error(`the application returned the status ${statusCode}`);
    } catch (error) {
      return error;
    }
  }

  async #createLogoutToken({ accountId, sid }: Notification, receiver: Receiver): Promise<string> {
    const { keys } = await this.#signingKeys.current();
    const algorithm = getIdTokenSigningAlgorithm(receiver);
    const key = keys.find(({ alg }) => alg === algorithm);
    if (!key) throw new Error(`there is no signing key for ${algorithm}`);
    return signLogoutToken(key, { issuer: this.#options.issuer, clientId: receiver.clientId, accountId, sid });
  }
}

async function signLogoutToken(
  key: JWK,
  { issuer, clientId, accountId, sid }: { readonly issuer: string; readonly clientId: string } & Pick<Notification, 'accountId' | 'sid'>,
): Promise<string> {
  const { kid = '', alg = '' } = key;
  const issuedAt = Math.floor(Date.now() / 1000);
  return new SignJWT({ events: { [logoutEvent]: {} }, sid })
    .setProtectedHeader({ alg, kid, typ: 'logout+jwt' })
    .setIssuer(issuer)
    .setAudience(clientId)
    .setSubject(accountId)
    .setIssuedAt(issuedAt)
    .setExpirationTime(issuedAt + tokenLifetimeSeconds)
    .setJti(randomUUID())
    .sign(await importJWK(key));
}

/** Posts a logout token and returns the status of the response. Redirects are not followed. */
function postLogoutToken(url: string, token: string, network: NetworkPolicy, signal: AbortSignal): Promise<number> {
  return withSsrfProtectedConnection({ url, network, totalMs: attemptTimeoutMs, signal }, async ({ client, path, signal: ending }) => {
    const response = await client.request({
      method: 'POST',
      path,
      headers: { 'content-type': 'application/x-www-form-urlencoded', 'user-agent': 'Mandate-Logout/1' },
      body: new URLSearchParams({ logout_token: token }).toString(),
      signal: ending,
    });
    await response.body.dump({ limit: responseBytesMax });
    return response.statusCode;
  });
}

/** Claims a batch of notifications that are due, and skips notifications that another process is claiming. */
async function claimDueNotifications(em: EntityManager, now: Date): Promise<Notification[]> {
  const options = { orderBy: { dueAt: 'asc' }, limit: batchSize, lockMode: LockMode.PESSIMISTIC_PARTIAL_WRITE, refresh: true } as const;
  return leaseLockedRowsAndCountAttempt(
    em,
    await em.find(LogoutNotification, { dueAt: { $lte: now } }, options),
    new Date(now.getTime() + leaseMs),
  );
}
