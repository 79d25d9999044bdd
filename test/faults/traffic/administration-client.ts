import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { obtainAdministrationToken } from '../../support/server/server-process.ts';
import { sendRequest, isUnavailable, type HttpResult } from './send-request.ts';
import type { WriteRequest, ConfirmedWrite, Ledger } from './confirmed-writes.ts';
import type { FaultEnvironment } from '../environments/environment.ts';

const renewAfterMs = 200_000;
const pauseMs = 50;

/** Sends requests as the administration application, and retries them while the servers are unavailable. */
export class AdministrationClient {
  readonly environment: FaultEnvironment;
  readonly ledger: Ledger;
  #token: Promise<string> | undefined;
  #renewAt = 0;

  constructor(environment: FaultEnvironment, ledger: Ledger) {
    this.environment = environment;
    this.ledger = ledger;
  }

  async token(): Promise<string> {
    if (performance.now() > this.#renewAt) this.#token = undefined;
    if (!this.#token) {
      this.#renewAt = performance.now() + renewAfterMs;
      this.#token = obtainAdministrationToken(this.environment.loadBalancer.url, this.environment.dataDirectory);
      this.#token.catch(() => (this.#token = undefined));
    }
    return this.#token;
  }

  /** Sends one request without retries. */
  async sendOnce(path: string, { key, body }: { key?: string; body?: string } = {}): Promise<HttpResult> {
    const token = await this.token().catch(() => undefined);
    if (token === undefined) return { status: 0, text: 'no token' };
    const headers = {
      authorization: `Bearer ${token}`,
      ...(body !== undefined && { 'content-type': /^[{[]/.test(body) ? 'application/json' : 'text/csv' }),
      ...(key !== undefined && { 'idempotency-key': key }),
    };
    const method = body === undefined ? 'GET' : 'POST';
    const result = await sendRequest(`${this.environment.clientUrl}/api/v1${path}`, {
      method,
      headers,
      ...(body !== undefined && { body }),
    });
    if (result.status === 401) this.#token = undefined; // according to the server's clock, the token has expired
    return result;
  }

  /** Sends a GET request and retries until the request succeeds. */
  async read(path: string): Promise<string> {
    for (const end = performance.now() + 120_000; performance.now() < end; await sleep(pauseMs)) {
      const { status, text } = await this.sendOnce(path);
      if (status === 200) return text;
      if (!isUnavailable(status) && status !== 401) throw new Error(`${path} returned ${status}: ${text}`);
    }
    throw new Error(`${path} returned no response`);
  }

  /** Replays a write with its idempotency key until a server confirms it. Returns `undefined` if the signal is aborted first. */
  async writeUntilConfirmed(request: WriteRequest, signal?: AbortSignal): Promise<ConfirmedWrite | undefined> {
    const end = performance.now() + 180_000;
    const hasTimedOut = (): boolean => performance.now() > end || signal?.aborted === true;
    for (; !hasTimedOut(); await sleep(pauseMs)) {
      const began = performance.now();
      const { status, text } = await this.sendOnce(request.path, request);
      this.ledger.count(status);
      if (status === 201 || status === 202) {
        this.ledger.acknowledge(began);
        return { ...request, text };
      }
      const inProgress = status === 409 && text.includes('idempotency_in_progress');
      if (!isUnavailable(status) && status !== 401 && !inProgress) {
        this.ledger.unexpected.push(`POST ${request.path} returned ${status}: ${text}`);
        return undefined;
      }
    }
    return undefined;
  }

  /** Creates fixture data, which is not counted. Every attempt has a new body and a new key. */
  async create(path: string, body: () => object): Promise<number> {
    for (const end = performance.now() + 60_000; ; await sleep(pauseMs)) {
      const { status, text } = await this.sendOnce(path, { body: JSON.stringify(body()), key: randomUUID() });
      if (status === 201) return z.object({ id: z.number() }).parse(JSON.parse(text)).id;
      if (!isUnavailable(status) || performance.now() > end) throw new Error(`POST ${path} returned ${status}: ${text}`);
    }
  }
}
