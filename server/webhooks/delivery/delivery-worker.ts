import { maxWebhookFailingDays, type WebhookExchange } from '@mandate/contract';
import type { EntityManager } from '../../database/entity-manager/entity-manager-type.ts';
import { eventFromRow } from '../../events/event-from-row.ts';
import type { Log } from '../../logging/logger.ts';
import { AddressNotAllowedError, type NetworkPolicy } from '../../outgoing-http/ssrf-protected-connection.ts';
import * as queue from './delivery-queue.ts';
import type { ClaimedDelivery } from './claim-and-update-deliveries.sql.ts';
import { disableEndpointAndNotify, type EndpointNoticeDependencies } from '../endpoints/disable-webhook-endpoint.ts';
import { createAuthorizationCheckedSendGate } from './create-authorization-checked-send-gate.ts';
import { calculateRetryDelayMs, calculateEndpointPauseMs, parseRetryAfterMs } from './calculate-retry-delays.ts';
import { EndpointNoLongerAuthorizedError, sendWebhook, AuthorizationLockedError, type WebhookResponse } from './send-webhook.ts';
import { toStoredWebhookRequest } from './stored-webhook-exchange.ts';
import { createSignedWebhookHeaders } from '../endpoints/webhook-secret-and-signature.ts';
import { EndpointConcurrencyLimiter } from './endpoint-concurrency-limiter.ts';

export type DeliveryWorkerDependencies = {
  readonly em: EntityManager;
  readonly log: Log;
  /** Encryption key for the endpoint secrets. */
  readonly key: Buffer;
  readonly network: NetworkPolicy;
  readonly notice: EndpointNoticeDependencies;
};

/** Reason why an attempt failed. */
type Failure = 'timeout' | 'connection_failed' | 'name_not_found' | 'tls_failed' | 'address_not_allowed' | 'status_code' | 'redirect';

const dayMs = 86_400_000;
const busyRetryMs = 100;
/** Maximum timer delay in milliseconds; later retries are found by polling. */
const timersMaxMs = 60_000;
/** Retries that become due within this time share a timer. */
const timerStepMs = 100;

/** Sends due deliveries to their endpoints. Every process can run one worker. */
export class DeliveryWorker {
  readonly #deps: DeliveryWorkerDependencies;
  readonly #concurrency = new EndpointConcurrencyLimiter();
  readonly #stopping = new AbortController();
  readonly #inFlight = new Set<Promise<void>>();
  readonly #timers = new Map<number, NodeJS.Timeout>();
  #lastServedEndpointId = 0;
  #running: Promise<void> | undefined;
  #again = false;

  constructor(deps: DeliveryWorkerDependencies) {
    this.#deps = deps;
  }

  /**
   * Claims and sends deliveries until no delivery is due or the capacity is used up. The promise can resolve while attempts are still in
   * flight.
   */
  run(): Promise<void> {
    this.#again = true;
    this.#running ??= this.#claimAll().finally(() => (this.#running = undefined));
    return this.#running;
  }

  /** Runs the worker and waits for the attempts in flight. */
  async waitUntilIdle(): Promise<void> {
    await this.run();
    while (this.#inFlight.size > 0) {
      await Promise.all(this.#inFlight);
      await this.run();
    }
  }

  /** Stops claiming deliveries and aborts the attempts in flight; another process claims their deliveries again. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    for (const timer of this.#timers.values()) clearTimeout(timer);
    await this.#running;
    await Promise.all(this.#inFlight);
  }

  /** Schedules a run for the time at which a delivery that this process postponed becomes due. */
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

  async #claimAll(): Promise<void> {
    while (this.#again && !this.#stopping.signal.aborted) {
      this.#again = false;
      const taken = await this.#claimBatch();
      if (taken > 0) this.#again = true;
    }
  }

  async #claimBatch(): Promise<number> {
    const capacity = this.#concurrency.capacity();
    if (capacity.total === 0) return 0;
    const em = this.#deps.em.fork();
    let claimed = await queue.claimDueDeliveries(em, this.#lastServedEndpointId, capacity);
    // No endpoint after the most recently served endpoint has due deliveries, so the next claim starts with the first endpoint.
    if (claimed.length === 0 && this.#lastServedEndpointId > 0) claimed = await queue.claimDueDeliveries(em, 0, capacity);
    this.#lastServedEndpointId = claimed.length < capacity.total ? 0 : Math.max(...claimed.map(({ endpoint_id: id }) => id));
    for (const delivery of claimed) {
      const attempt = this.#attempt(delivery)
        .catch((error: unknown) =>
          this.#deps.log.error(
            { err: error, delivery_id: delivery.delivery_id },
            'a webhook delivery failed unexpectedly and will be retried',
          ),
        )
        .finally(() => {
          this.#inFlight.delete(attempt);
          // The next claim is made immediately only if there is capacity for a batch, or if no attempt in flight would trigger the claim
          // later.
          if (this.#concurrency.hasBatchCapacity() || this.#inFlight.size === 0) void this.run().catch(() => undefined);
        });
      this.#inFlight.add(attempt);
    }
    return claimed.length;
  }

  async #attempt(delivery: ClaimedDelivery): Promise<void> {
    const { em, network, key } = this.#deps;
    const release = this.#concurrency.acquire(delivery.endpoint_id);
    const at = new Date();
    const startedAt = performance.now();
    let request: WebhookExchange['request'] = null;
    let response: WebhookResponse | undefined;
    let failure: Failure | undefined;
    try {
      const body = JSON.stringify(eventFromRow(delivery));
      const headers = {
        'content-type': 'application/json',
        'user-agent': 'Mandate-Webhooks/1',
        ...createSignedWebhookHeaders(delivery, key, `evt_${delivery.seq}`, body, at),
      };
      request = toStoredWebhookRequest(delivery.url, headers);
      response = await sendWebhook(
        { url: delivery.url, headers, body },
        network,
        createAuthorizationCheckedSendGate(em, delivery),
        this.#stopping.signal,
      );
      failure = failureFromStatus(response.statusCode);
    } catch (error) {
      release(undefined);
      if (error instanceof EndpointNoLongerAuthorizedError) return void (await queue.markDeliverySkipped(em.fork(), delivery));
      if (error instanceof AuthorizationLockedError || this.#stopping.signal.aborted) {
        await queue.requeueDelivery(em.fork(), delivery, busyRetryMs);
        return this.#runAfter(busyRetryMs);
      }
      failure = failureFromError(error);
      if (failure === undefined) throw error;
    }
    const milliseconds = Math.round(performance.now() - startedAt);
    release({ failed: failure !== undefined, milliseconds });
    const exchange = { request, response: response?.stored ?? null };
    await this.#finish(
      delivery,
      { at, milliseconds, statusCode: response?.statusCode ?? null, error: failure ?? null, exchange },
      response?.retryAfter,
    );
  }

  async #finish(delivery: ClaimedDelivery, attempt: queue.DeliveryAttempt, retryAfter: string | undefined): Promise<void> {
    const em = this.#deps.em.fork();
    const { endpoint_id: endpointId, failing_since: failingSince } = delivery;
    if (attempt.error === null) {
      await queue.recordDeliveryAttempt(em, delivery, 'succeeded', 0, attempt);
      if (failingSince !== null) await queue.markEndpointHealthy(em, endpointId);
      return;
    }
    const requestedMs = parseRetryAfterMs(retryAfter, new Date());
    const delayMs = calculateRetryDelayMs(delivery.tries + 1, requestedMs, Math.random());
    if (!(await queue.recordDeliveryAttempt(em, delivery, delayMs === undefined ? 'failed' : 'pending', delayMs ?? 0, attempt))) return;
    if (delayMs !== undefined) this.#runAfter(delayMs);
    const gone = attempt.statusCode === 410;
    const failingTooLong = failingSince !== null && Date.now() - Date.parse(failingSince) > maxWebhookFailingDays * dayMs;
    if (gone || failingTooLong) return disableEndpointAndNotify(em, this.#deps.notice, endpointId, gone ? 'gone' : 'failing', new Date());
    const pauseMs = calculateEndpointPauseMs(attempt.statusCode ?? 0, requestedMs);
    if (failingSince === null || pauseMs > 0) await queue.markEndpointFailingAndPause(em, endpointId, pauseMs);
    if (pauseMs > 0) this.#runAfter(pauseMs);
  }
}

function failureFromStatus(statusCode: number): Failure | undefined {
  if (statusCode >= 200 && statusCode < 300) return undefined;
  return statusCode >= 300 && statusCode < 400 ? 'redirect' : 'status_code';
}

/** Returns the failure reason for an error, or `undefined` if the endpoint did not cause the error. */
function failureFromError(error: unknown): Failure | undefined {
  if (!(error instanceof Error)) return undefined;
  if (error instanceof AddressNotAllowedError) return 'address_not_allowed';
  const code = 'code' in error ? String(error.code) : '';
  // errors thrown by undici are recognized by their codes, because importing the classes would load undici at every start
  if (error.name === 'TimeoutError' || /^UND_ERR_(CONNECT|HEADERS|BODY)_TIMEOUT$/.test(code)) return 'timeout';
  if (/^(ENOTFOUND|EAI_|ENODATA|ESERVFAIL|ETIMEOUT)/.test(code)) return 'name_not_found';
  if (/^(ERR_TLS|ERR_SSL|CERT_|DEPTH_|SELF_SIGNED|UNABLE_TO|EPROTO|HOSTNAME)/.test(code)) return 'tls_failed';
  if (/^(UND_ERR|E[A-Z]+$|HPE_)/.test(code)) return 'connection_failed';
  return error instanceof AggregateError ? 'connection_failed' : undefined;
}
