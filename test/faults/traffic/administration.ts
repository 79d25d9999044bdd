import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { administrationToken } from '../../support/server/server-process.ts';
import { ask, isExcused, type Reply } from './request.ts';
import type { Asked, Confirmed, Ledger } from '../audit/confirmed-writes.ts';
import type { Stage } from '../environments/environment.ts';

const renewAfterMs = 200_000;
const pauseMs = 50;

/** The application that administers the shop, which asks until it is answered. */
export class Administration {
  readonly stage: Stage;
  readonly ledger: Ledger;
  #token: Promise<string> | undefined;
  #renewAt = 0;

  constructor(stage: Stage, ledger: Ledger) {
    this.stage = stage;
    this.ledger = ledger;
  }

  async token(): Promise<string> {
    if (performance.now() > this.#renewAt) this.#token = undefined;
    if (!this.#token) {
      this.#renewAt = performance.now() + renewAfterMs;
      this.#token = administrationToken(this.stage.front.url, this.stage.dataDirectory);
      this.#token.catch(() => (this.#token = undefined));
    }
    return this.#token;
  }

  /** One request, as it comes. */
  async once(path: string, { key, body }: { key?: string; body?: string } = {}): Promise<Reply> {
    const token = await this.token().catch(() => undefined);
    if (token === undefined) return { status: 0, text: 'no token' };
    const headers = {
      authorization: `Bearer ${token}`,
      ...(body !== undefined && { 'content-type': /^[{[]/.test(body) ? 'application/json' : 'text/csv' }),
      ...(key !== undefined && { 'idempotency-key': key }),
    };
    const method = body === undefined ? 'GET' : 'POST';
    const reply = await ask(`${this.stage.entrance}/api/v1${path}`, { method, headers, ...(body !== undefined && { body }) });
    if (reply.status === 401) this.#token = undefined; // it has expired, by the clock of whoever was asked
    return reply;
  }

  /** The same, until it is answered with something. */
  async read(path: string): Promise<string> {
    for (const end = performance.now() + 120_000; performance.now() < end; await sleep(pauseMs)) {
      const { status, text } = await this.once(path);
      if (status === 200) return text;
      if (!isExcused(status) && status !== 401) throw new Error(`${path} was answered ${status}: ${text}`);
    }
    throw new Error(`${path} was not answered`);
  }

  /** Has something done once, by its key, however often it has to be asked for; `undefined` when the signal came before the answer. */
  async untilConfirmed(asked: Asked, signal?: AbortSignal): Promise<Confirmed | undefined> {
    const end = performance.now() + 180_000;
    const isOver = (): boolean => performance.now() > end || signal?.aborted === true;
    for (; !isOver(); await sleep(pauseMs)) {
      const began = performance.now();
      const { status, text } = await this.once(asked.path, asked);
      this.ledger.count(status);
      if (status === 201 || status === 202) {
        this.ledger.acknowledge(began);
        return { ...asked, text };
      }
      const inProgress = status === 409 && text.includes('idempotency_in_progress');
      if (!isExcused(status) && status !== 401 && !inProgress) {
        this.ledger.unexpected.push(`POST ${asked.path} was answered ${status}: ${text}`);
        return undefined;
      }
    }
    return undefined;
  }

  /** For what the stage needs before anything is counted: a new one each time that it has to be asked for again. */
  async make(path: string, body: () => object): Promise<number> {
    for (const end = performance.now() + 60_000; ; await sleep(pauseMs)) {
      const { status, text } = await this.once(path, { body: JSON.stringify(body()), key: randomUUID() });
      if (status === 201) return z.object({ id: z.number() }).parse(JSON.parse(text)).id;
      if (!isExcused(status) || performance.now() > end) throw new Error(`POST ${path} was answered ${status}: ${text}`);
    }
  }
}
