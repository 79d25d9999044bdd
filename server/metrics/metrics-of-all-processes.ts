import cluster, { type Worker } from 'node:cluster';
import { collectDefaultMetrics, Registry } from '@prometheus-io/client';
import type { Log } from '../logging/logger.ts';
import { serveMetrics, type MetricsAddress } from './serve-metrics.ts';

type MetricValues = Awaited<ReturnType<Registry['getMetricsAsJSON']>>;
const requestType = 'mandate:get-metrics';
type MetricsMessage = { readonly type: 'mandate:metrics'; readonly metrics: MetricValues };

const isMessage = (message: unknown): message is { readonly type: unknown } =>
  typeof message === 'object' && message !== null && 'type' in message;
const isMetricsMessage = (message: unknown): message is MetricsMessage => isMessage(message) && message.type === 'mandate:metrics';

/**
 * How long a scrape waits for a process, in milliseconds. If the process does not respond in time, its most recently reported values are
 * used.
 */
const maxWaitMs = 2_000;

/**
 * The metrics of the server processes that a supervisor has started. The library's `AggregatorRegistry` is not used, because a scrape would
 * fail if a process exited during the scrape. In addition, the gauges of exited processes would be added to those of running processes.
 */
class ProcessMetrics {
  readonly #latest = new Map<Worker, MetricValues>();
  readonly #waiting = new Map<Worker, PromiseWithResolvers<void>>();
  /** Totals of the processes that have exited. These totals are kept, because a counter must never decrease. */
  #exited: MetricValues = [];

  constructor() {
    cluster.on('message', (worker, message: unknown) => {
      if (!isMetricsMessage(message)) return;
      this.#latest.set(worker, message.metrics);
      this.#waiting.get(worker)?.resolve();
    });
    cluster.on('exit', (worker) => void this.#addToExited(worker));
  }

  async collect(): Promise<MetricValues[]> {
    const workers = Object.values(cluster.workers ?? {}).flatMap((worker) => (worker?.isConnected() ? [worker] : []));
    await Promise.all(workers.map((worker) => this.#request(worker)));
    return [this.#exited, ...this.#latest.values()];
  }

  async #request(worker: Worker): Promise<void> {
    const response = this.#waiting.get(worker) ?? Promise.withResolvers<void>();
    this.#waiting.set(worker, response);
    const timer = setTimeout(() => response.resolve(), maxWaitMs);
    worker.send({ type: requestType }, () => undefined);
    await response.promise;
    clearTimeout(timer);
    this.#waiting.delete(worker);
  }

  async #addToExited(worker: Worker): Promise<void> {
    const sums = (this.#latest.get(worker) ?? []).filter(({ type }) => type !== 'gauge');
    this.#latest.delete(worker);
    this.#waiting.get(worker)?.resolve();
    this.#exited = await Registry.aggregate([this.#exited, sums]).getMetricsAsJSON();
  }
}

/** Serves the combined metrics of the supervisor and its server processes. Returns a function that stops the server. */
export function serveMetricsOfAllProcesses(address: MetricsAddress, log: Log): Promise<() => Promise<void>> {
  const supervisorRegistry = new Registry();
  collectDefaultMetrics({ register: supervisorRegistry });
  const processes = new ProcessMetrics();
  const render = async () => {
    const all = Registry.aggregate([await supervisorRegistry.getMetricsAsJSON(), ...(await processes.collect())]);
    return { text: await all.metrics(), contentType: all.contentType };
  };
  return serveMetrics(address, render, log);
}

/**
 * Sends the metrics of this process to its supervisor whenever the supervisor requests them. Returns a function that sends the last values.
 */
export function sendMetricsToSupervisor(registry: Registry): () => Promise<void> {
  const send = async (): Promise<void> => {
    const message: MetricsMessage = { type: 'mandate:metrics', metrics: await registry.getMetricsAsJSON() };
    // an error means that the supervisor has exited
    await new Promise<void>((resolve) => process.send?.(message, undefined, undefined, () => resolve()));
  };
  process.on('message', (message) => {
    if (isMessage(message) && message.type === requestType) void send();
  });
  return send;
}
