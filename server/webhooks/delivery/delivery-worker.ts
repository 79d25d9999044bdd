import { errors } from 'undici';
import { webhookFailingDaysMax } from '@mandate/contract';
import type { Em } from '../../database/entity-manager/entity-manager.ts';
import { toEvent } from '../../events/event-rows.ts';
import type { Log } from '../../logging/logger.ts';
import { AddressNotAllowedError, type Network } from '../../outgoing-http/protected-client.ts';
import * as queue from './delivery-queue.ts';
import { disableEndpoint, type NoticeParts } from '../endpoints/disable-endpoint.ts';
import { permission } from './hold-authorization.ts';
import { delayAfter, pauseAfter, retryAfterMs } from './retry-schedule.ts';
import { NotAllowedError, send, UndecidedError } from './send-webhook.ts';
import { signedHeaders } from '../endpoints/webhook-signature.ts';
import { Slots } from './endpoint-concurrency.ts';

export type DelivererParts = {
  readonly em: Em;
  readonly log: Log;
  /** What the secrets of the endpoints are sealed with. */
  readonly key: Buffer;
  readonly network: Network;
  readonly notice: NoticeParts;
};

/** Nothing of the endpoint's answer but these words and its status is kept. */
type Failure = 'timeout' | 'connection_failed' | 'name_not_found' | 'tls_failed' | 'address_not_allowed' | 'status_code' | 'redirect';

const day = 86_400_000;
const soonMs = 100;
/** Retries that are due later are left to the next poll. */
const timersMaxMs = 60_000;
/** Retries that become due within this time share a timer. */
const timerStepMs = 100;

/** Sends what is due to the endpoints. As many processes as there are can have one each. */
export class Deliverer {
  readonly #parts: DelivererParts;
  readonly #slots = new Slots();
  readonly #stopping = new AbortController();
  readonly #underWay = new Set<Promise<void>>();
  readonly #timers = new Map<number, NodeJS.Timeout>();
  #servedLast = 0;
  #running: Promise<void> | undefined;
  #again = false;

  constructor(parts: DelivererParts) {
    this.#parts = parts;
  }

  /** Sends until nothing is due that there is room for. What has been begun may still be under way afterwards. */
  run(): Promise<void> {
    this.#again = true;
    this.#running ??= this.#takeAll().finally(() => (this.#running = undefined));
    return this.#running;
  }

  /** Waits for the attempts that are under way, too. */
  async settled(): Promise<void> {
    await this.run();
    while (this.#underWay.size > 0) {
      await Promise.all(this.#underWay);
      await this.run();
    }
  }

  /** Begins nothing more, and breaks off what is under way: it is taken up again by whoever comes next. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    for (const timer of this.#timers.values()) clearTimeout(timer);
    await this.#running;
    await Promise.all(this.#underWay);
  }

  /** Runs again when a delivery that this process has postponed is due. */
  #runAfter(delayMs: number): void {
    if (delayMs > timersMaxMs || this.#stopping.signal.aborted) return;
    const step = Math.ceil((performance.now() + delayMs) / timerStepMs);
    if (this.#timers.has(step)) return;
    const timer = setTimeout(
      () => {
        this.#timers.delete(step);
        void this.run().catch(() => undefined);
      },
      step * timerStepMs - performance.now(),
    );
    this.#timers.set(step, timer.unref());
  }

  async #takeAll(): Promise<void> {
    while (this.#again && !this.#stopping.signal.aborted) {
      this.#again = false;
      const taken = await this.#take();
      if (taken > 0) this.#again = true;
    }
  }

  async #take(): Promise<number> {
    const room = this.#slots.room();
    if (room.total === 0) return 0;
    const em = this.#parts.em.fork();
    let claimed = await queue.claimDeliveries(em, this.#servedLast, room);
    // Nobody after the last one: from the beginning.
    if (claimed.length === 0 && this.#servedLast > 0) claimed = await queue.claimDeliveries(em, 0, room);
    this.#servedLast = claimed.length < room.total ? 0 : Math.max(...claimed.map(({ endpoint_id: id }) => id));
    for (const delivery of claimed) {
      const attempt = this.#attempt(delivery)
        .catch((error: unknown) =>
          this.#parts.log.error({ err: error, delivery_id: delivery.delivery_id }, 'a webhook delivery broke down; it is tried again'),
        )
        .finally(() => {
          this.#underWay.delete(attempt);
          // Enough room for a claim to be worth its while, or nothing left to wait for.
          if (this.#slots.isRoomy() || this.#underWay.size === 0) void this.run().catch(() => undefined);
        });
      this.#underWay.add(attempt);
    }
    return claimed.length;
  }

  async #attempt(delivery: queue.Claimed): Promise<void> {
    const { em, network, key } = this.#parts;
    const release = this.#slots.take(delivery.endpoint_id);
    const at = new Date();
    const begun = performance.now();
    let answered: { statusCode: number; retryAfter: string | undefined } | undefined;
    let failure: Failure | undefined;
    try {
      const body = JSON.stringify(toEvent(delivery));
      const headers = {
        'content-type': 'application/json',
        'user-agent': 'Mandate-Webhooks/1',
        ...signedHeaders(delivery, key, `evt_${delivery.seq}`, body, at),
      };
      answered = await send({ url: delivery.url, headers, body }, network, permission(em, delivery), this.#stopping.signal);
      failure = failureOf(answered.statusCode);
    } catch (error) {
      release(undefined);
      if (error instanceof NotAllowedError) return void (await queue.skipDelivery(em.fork(), delivery));
      if (error instanceof UndecidedError || this.#stopping.signal.aborted) {
        await queue.giveDeliveryBack(em.fork(), delivery, soonMs);
        return this.#runAfter(soonMs);
      }
      failure = causeOf(error);
      if (failure === undefined) throw error;
    }
    const milliseconds = Math.round(performance.now() - begun);
    release({ failed: failure !== undefined, milliseconds });
    await this.#finish(
      delivery,
      { at, milliseconds, statusCode: answered?.statusCode ?? null, error: failure ?? null },
      answered?.retryAfter,
    );
  }

  async #finish(delivery: queue.Claimed, attempt: queue.Attempt, retryAfter: string | undefined): Promise<void> {
    const em = this.#parts.em.fork();
    const { endpoint_id: endpointId, failing_since: failingSince } = delivery;
    if (attempt.error === null) {
      await queue.finishAttempt(em, delivery, 'succeeded', 0, attempt);
      if (failingSince !== null) await queue.noteWorking(em, endpointId);
      return;
    }
    const askedMs = retryAfterMs(retryAfter, new Date());
    const delayMs = delayAfter(delivery.tries + 1, askedMs, Math.random());
    if (!(await queue.finishAttempt(em, delivery, delayMs === undefined ? 'failed' : 'pending', delayMs ?? 0, attempt))) return;
    if (delayMs !== undefined) this.#runAfter(delayMs);
    const gone = attempt.statusCode === 410;
    const failingTooLong = failingSince !== null && Date.now() - Date.parse(failingSince) > webhookFailingDaysMax * day;
    if (gone || failingTooLong) return disableEndpoint(em, this.#parts.notice, endpointId, gone ? 'gone' : 'failing', new Date());
    const pauseMs = pauseAfter(attempt.statusCode ?? 0, askedMs);
    if (failingSince === null || pauseMs > 0) await queue.noteFailing(em, endpointId, pauseMs);
    if (pauseMs > 0) this.#runAfter(pauseMs);
  }
}

function failureOf(statusCode: number): Failure | undefined {
  if (statusCode >= 200 && statusCode < 300) return undefined;
  return statusCode >= 300 && statusCode < 400 ? 'redirect' : 'status_code';
}

/** Undefined: not the endpoint's fault. */
function causeOf(error: unknown): Failure | undefined {
  if (!(error instanceof Error)) return undefined;
  if (error instanceof AddressNotAllowedError) return 'address_not_allowed';
  if (error.name === 'TimeoutError' || error instanceof errors.ConnectTimeoutError) return 'timeout';
  if (error instanceof errors.HeadersTimeoutError || error instanceof errors.BodyTimeoutError) return 'timeout';
  const code = 'code' in error ? String(error.code) : '';
  if (/^(ENOTFOUND|EAI_|ENODATA|ESERVFAIL|ETIMEOUT)/.test(code)) return 'name_not_found';
  if (/^(ERR_TLS|ERR_SSL|CERT_|DEPTH_|SELF_SIGNED|UNABLE_TO|EPROTO|HOSTNAME)/.test(code)) return 'tls_failed';
  if (error instanceof errors.UndiciError || /^E[A-Z]+$/.test(code) || code.startsWith('HPE_')) return 'connection_failed';
  return error instanceof AggregateError ? 'connection_failed' : undefined;
}
