import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import type { Browser } from '../../support/browser/browser.ts';
import { authorize, commandLine, signIn, tokenResponse, type TokenResponse } from '../../support/oauth/oauth-flow.ts';
import { readFirstRun } from '../../support/server/server-process.ts';
import { ask, isExcused } from './request.ts';
import type { Ledger, Spent } from '../audit/confirmed-writes.ts';
import type { Stage } from '../environments/environment.ts';

type Form = Readonly<Record<string, string>>;

const pauseMs = 100;
const refreshes = 4;
/** Tokens that are left alone until the end. */
const standingMax = 20;
const refusal = z.object({ error: z.string() });

/** Somebody who signs in, uses up codes and refresh tokens, and takes back what was allowed; remembers what must be good for nothing any more. */
export class Visitor {
  readonly #stage: Stage;
  readonly #ledger: Ledger;
  readonly #signal: AbortSignal;
  #browser: Browser | undefined;

  constructor(stage: Stage, ledger: Ledger, signal: AbortSignal) {
    this.#stage = stage;
    this.#ledger = ledger;
    this.#signal = signal;
  }

  async visit(): Promise<void> {
    for (let nth = 0; !this.#signal.aborted; nth += 1) {
      await this.#comeAndGo(nth).catch(async () => {
        this.#browser = undefined; // the pages were not there: once more, from the beginning
        await sleep(500);
      });
      await sleep(pauseMs);
    }
  }

  async #comeAndGo(nth: number): Promise<void> {
    const { url: origin } = this.#stage.front;
    const { customer } = await readFirstRun(this.#stage.dataDirectory);
    this.#browser ??= await signIn(origin, customer);
    const { code, verifier, redirectUri } = await authorize(origin, { browser: this.#browser }, { scope: 'openid users.read' });
    const form = { grant_type: 'authorization_code', code, code_verifier: verifier, redirect_uri: redirectUri };
    let tokens = await this.#spend('code', { ...form, client_id: commandLine.clientId });
    for (let turn = 0; tokens?.refresh_token !== undefined && turn < refreshes; turn += 1) {
      const { refresh_token: token } = tokens;
      tokens = await this.#spend('refresh token', { grant_type: 'refresh_token', refresh_token: token, client_id: commandLine.clientId });
    }
    if (tokens?.refresh_token === undefined) return;
    if (nth % 3 === 0 && this.#ledger.standing.length < standingMax) this.#ledger.standing.push(tokens.refresh_token);
    else await this.#revoke(tokens);
  }

  /**
   * Until it is answered. A refusal after an answer that was lost is no fault: the server has seen the token before, and takes
   * who comes with it again for a thief (RFC 9700 section 4.14.2); the person signs in again.
   */
  async #spend(kind: Spent['kind'], form: Form): Promise<TokenResponse | undefined> {
    for (let tries = 0; !this.#signal.aborted; tries += 1) {
      const began = performance.now();
      const { status, text } = await ask(`${this.#stage.entrance}/oauth/token`, { method: 'POST', body: new URLSearchParams(form) });
      this.#ledger.count(status);
      if (status === 200) {
        this.#ledger.acknowledge(began);
        this.#ledger.spent.push({ kind, form });
        return tokenResponse.parse(JSON.parse(text));
      }
      const used = status === 400 && refusal.safeParse(JSON.parse(text)).data?.error === 'invalid_grant';
      if (!isExcused(status)) {
        if (!used || (tries === 0 && this.#stage.clocks === 'one'))
          this.#ledger.unexpected.push(`a ${kind} was answered ${status}: ${text}`);
        return undefined;
      }
      await sleep(pauseMs);
    }
    return undefined;
  }

  async #revoke({ access_token: access, refresh_token: refresh = '' }: TokenResponse): Promise<void> {
    const body = new URLSearchParams({ token: refresh, client_id: commandLine.clientId });
    while (!this.#signal.aborted) {
      const began = performance.now();
      const { status, text } = await ask(`${this.#stage.entrance}/oauth/revocation`, { method: 'POST', body });
      this.#ledger.count(status);
      if (status === 200) {
        this.#ledger.acknowledge(began);
        this.#ledger.revoked.push(access);
        await this.#isRefused(access);
        return;
      }
      if (!isExcused(status)) return void this.#ledger.unexpected.push(`a revocation was answered ${status}: ${text}`);
      await sleep(pauseMs);
    }
  }

  /** By every server, from the answer to the revocation on. */
  async #isRefused(token: string): Promise<void> {
    for (const { env } of this.#stage.servers) {
      const { status } = await ask(`http://localhost:${env['PORT']}/api/v1/users/me`, { headers: { authorization: `Bearer ${token}` } });
      if (status === 200) this.#ledger.letIn.push(`an access token, after its revocation, at port ${env['PORT']}`);
    }
  }
}
