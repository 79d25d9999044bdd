import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import type { HttpBrowser } from '../../support/browser/browser.ts';
import { obtainAuthorizationCode, cliClient, signIn, tokenResponseSchema, type TokenResponse } from '../../support/oauth/oauth-flow.ts';
import { readFirstRunFile } from '../../support/server/server-process.ts';
import { sendRequest, isUnavailable } from './send-request.ts';
import type { Ledger, UsedCredential } from './confirmed-writes.ts';
import type { FaultEnvironment } from '../environments/environment.ts';

type Form = Readonly<Record<string, string>>;

const pauseMs = 100;
const refreshes = 4;
/** Maximum number of refresh tokens that are kept unused, so that the final audit can check that they still work. */
const unusedRefreshTokensMax = 20;
const refusal = z.object({ error: z.string() });

/** Simulated user: signs in, uses codes and refresh tokens, revokes access, and records credentials that must no longer work. */
export class SimulatedUser {
  readonly #environment: FaultEnvironment;
  readonly #ledger: Ledger;
  readonly #signal: AbortSignal;
  #browser: HttpBrowser | undefined;

  constructor(environment: FaultEnvironment, ledger: Ledger, signal: AbortSignal) {
    this.#environment = environment;
    this.#ledger = ledger;
    this.#signal = signal;
  }

  async signInRepeatedly(): Promise<void> {
    for (let nth = 0; !this.#signal.aborted; nth += 1) {
      await this.#completeFlow(nth).catch(async () => {
        this.#browser = undefined; // the pages were unavailable, so sign in again
        await sleep(500);
      });
      await sleep(pauseMs);
    }
  }

  async #completeFlow(nth: number): Promise<void> {
    const { url: origin } = this.#environment.loadBalancer;
    const { customer } = await readFirstRunFile(this.#environment.dataDirectory);
    this.#browser ??= await signIn(origin, customer);
    const { code, verifier, redirectUri } = await obtainAuthorizationCode(
      origin,
      { browser: this.#browser },
      { scope: 'openid users.read' },
    );
    const form = { grant_type: 'authorization_code', code, code_verifier: verifier, redirect_uri: redirectUri };
    let tokens = await this.#requestTokens('code', { ...form, client_id: cliClient.clientId });
    for (let count = 0; tokens?.refresh_token !== undefined && count < refreshes; count += 1) {
      const { refresh_token: token } = tokens;
      tokens = await this.#requestTokens('refresh token', {
        grant_type: 'refresh_token',
        refresh_token: token,
        client_id: cliClient.clientId,
      });
    }
    if (tokens?.refresh_token === undefined) return;
    if (nth % 3 === 0 && this.#ledger.unusedRefreshTokens.length < unusedRefreshTokensMax)
      this.#ledger.unusedRefreshTokens.push(tokens.refresh_token);
    else await this.#revoke(tokens);
  }

  /**
   * Retries the token request until a server responds. If a response was lost, a rejection of the next attempt is not a violation: the
   * server has already received the token, and treats a second use as theft (RFC 9700 section 4.14.2). The simulated user then signs in
   * again.
   */
  async #requestTokens(kind: UsedCredential['kind'], form: Form): Promise<TokenResponse | undefined> {
    for (let attempts = 0; !this.#signal.aborted; attempts += 1) {
      const began = performance.now();
      const { status, text } = await sendRequest(`${this.#environment.clientUrl}/oauth/token`, {
        method: 'POST',
        body: new URLSearchParams(form),
      });
      this.#ledger.count(status);
      if (status === 200) {
        this.#ledger.acknowledge(began);
        this.#ledger.usedCredentials.push({ kind, form });
        return tokenResponseSchema.parse(JSON.parse(text));
      }
      const used = status === 400 && refusal.safeParse(JSON.parse(text)).data?.error === 'invalid_grant';
      if (!isUnavailable(status)) {
        if (!used || (attempts === 0 && this.#environment.clocks === 'synchronized'))
          this.#ledger.unexpected.push(`a ${kind} returned ${status}: ${text}`);
        return undefined;
      }
      await sleep(pauseMs);
    }
    return undefined;
  }

  async #revoke({ access_token: access, refresh_token: refresh = '' }: TokenResponse): Promise<void> {
    const body = new URLSearchParams({ token: refresh, client_id: cliClient.clientId });
    while (!this.#signal.aborted) {
      const began = performance.now();
      const { status, text } = await sendRequest(`${this.#environment.clientUrl}/oauth/revocation`, { method: 'POST', body });
      this.#ledger.count(status);
      if (status === 200) {
        this.#ledger.acknowledge(began);
        this.#ledger.revoked.push(access);
        await this.#expectRejection(access);
        return;
      }
      if (!isUnavailable(status)) return void this.#ledger.unexpected.push(`a revocation request returned ${status}: ${text}`);
      await sleep(pauseMs);
    }
  }

  /** Checks that every server rejects the token as soon as its revocation has been confirmed. */
  async #expectRejection(token: string): Promise<void> {
    for (const { env } of this.#environment.servers) {
      const { status } = await sendRequest(`http://localhost:${env['PORT']}/api/v1/users/me`, {
        headers: { authorization: `Bearer ${token}` },
      });
      if (status === 200) this.#ledger.wronglyAccepted.push(`an access token after its revocation, on port ${env['PORT']}`);
    }
  }
}
