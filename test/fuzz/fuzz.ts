import { setTimeout as sleep } from 'node:timers/promises';
import * as fc from 'fast-check';
import { KnownValues } from './placeholders.ts';
import { createTestShop } from '../support/shop/test-shop.ts';
import { runPendingTasks } from '../support/shop/run-tasks.ts';
import type { MandateServer } from '../support/server/start-mandate.ts';
import { callerNames, Callers } from './callers.ts';
import type { Operation } from './openapi-operations.ts';
import { errorCode, findViolations } from './check-response.ts';
import { requestArbitrary, type FuzzRequest } from './requests.ts';
import { describe, prepareRequest, type Received, Sender, type Sent } from './request-sender.ts';

export type Finding = {
  readonly operation: string;
  /** Value of `--seed` that reproduces the request, together with `index` as the value of `--only`. */
  readonly seed: number;
  readonly index: number;
  readonly fault: string;
  /** The smallest request that reproduces the violation. */
  readonly request: string;
};

export type FuzzOptions = {
  readonly mandate: MandateServer;
  readonly operations: readonly Operation[];
  readonly seed: number;
  /** Index of the first request. Consecutive request indexes select the operations in turn. */
  readonly first: number;
  readonly count: number;
  readonly concurrency?: number;
  /** Time after which no new request starts. */
  readonly timeMs?: number;
  readonly onResponse?: (operation: Operation, status: number) => void;
};

/** Maximum number of requests sent to shrink one failing request. */
const shrinksMax = 150;
/** Number of requests after which the fuzzer processes pending imports, because no background jobs run. */
const tasksEvery = 500;

/** Sends valid and invalid requests, and returns the violations in the responses, with each kind of violation only once per operation. */
export async function fuzz({
  mandate,
  operations,
  seed,
  first,
  count,
  concurrency = 8,
  timeMs = Number.POSITIVE_INFINITY,
  onResponse,
}: FuzzOptions): Promise<Finding[]> {
  const shop = await createTestShop(mandate);
  const run = new Run(mandate, seed, concurrency, onResponse);
  for (let created = 0; created < 10; created += 1) run.known.keep('product_id', (await shop.createProduct({ stock: 100_000 })).id);
  const requests = operations.map((operation) => requestArbitrary(operation));
  await run.createCallers();
  let next = first;
  const startedAt = performance.now();
  const isTimeUp = (): boolean => performance.now() - startedAt > timeMs;
  const work = async (): Promise<void> => {
    while (next < first + count && !isTimeUp()) {
      const index = next++;
      const [operation, arbitrary] = [operations[index % operations.length], requests[index % operations.length]];
      if (operation && arbitrary) await run.fuzzOnce(operation, arbitrary, index);
      if (index % tasksEvery === tasksEvery - 1) await runPendingTasks(mandate);
    }
  };
  try {
    await Promise.all(Array.from({ length: concurrency }, work));
  } finally {
    run.close();
  }
  return run.findings;
}

class Run {
  readonly known = new KnownValues();
  readonly findings: Finding[] = [];
  readonly #reportedKinds = new Set<string>();
  readonly #callers: Callers;
  readonly #sender: Sender;
  readonly #seed: number;
  readonly #onResponse: FuzzOptions['onResponse'];

  constructor(mandate: MandateServer, seed: number, concurrency: number, onResponse: FuzzOptions['onResponse']) {
    this.#callers = new Callers(mandate);
    this.#sender = new Sender(mandate.origin, concurrency);
    this.#seed = seed;
    this.#onResponse = onResponse;
  }

  async createCallers(): Promise<void> {
    for (const name of callerNames) await this.#callers.get(name);
  }

  close(): void {
    this.#sender.close();
  }

  /** Sends one request. If the response is invalid, smaller requests are sent to find the smallest one that reproduces the violation. */
  async fuzzOnce(operation: Operation, arbitrary: fc.Arbitrary<FuzzRequest>, index: number): Promise<void> {
    let [attempts, smallest]: [number, { fault: string; request: string } | undefined] = [0, undefined];
    const isValidResponse = fc.asyncProperty(arbitrary, async (request) => {
      if ((attempts += 1) > shrinksMax) return true;
      const { faults, shown } = await this.#sendAndCheck(operation, request);
      const [fault] = faults.filter((message) => !this.#reportedKinds.has(findingKind(operation, message)));
      if (fault === undefined) return true;
      smallest = { fault, request: shown() };
      return false;
    });
    const { errorInstance: error } = await fc.check(isValidResponse, { seed: mixSeed(this.#seed, index), numRuns: 1 });
    if (error instanceof Error && !error.message.startsWith('Property failed')) throw error;
    // TypeScript does not detect that the callback assigns a value to `smallest`
    const violation = smallest as { fault: string; request: string } | undefined;
    if (!violation) return;
    this.#reportedKinds.add(findingKind(operation, violation.fault));
    this.findings.push({ operation: operation.id, seed: this.#seed, index, ...violation });
  }

  /** Retries after a 503 response, because a busy machine may be too slow for a moment, but not for three attempts within ten seconds. */
  async #sendWithRetries(sent: Sent): Promise<Received> {
    for (let attempts = 1; ; attempts += 1) {
      const received = await this.#sender.send(sent);
      if (received.status !== 503 || attempts === 3) return received;
      await sleep(5_000);
    }
  }

  async #sendAndCheck(operation: Operation, request: FuzzRequest): Promise<{ faults: string[]; shown: () => string }> {
    const caller = await this.#callers.get(request.caller);
    const sent = prepareRequest(request, this.known, caller);
    const shown = (): string => `as ${request.caller}: ${describe(sent)}`;
    try {
      const received = await this.#sendWithRetries(sent);
      this.#onResponse?.(operation, received.status);
      if (received.status < 300) this.known.learn(sent.path, parseJson(received.text), received.headers.get('etag'));
      // another request revoked or limited the caller's access
      const isRefused = received.status === 401 || (received.status === 429 && errorCode(received.text) !== '');
      if (isRefused && caller.scopes.length > 0 && !('authorization' in request.headers)) this.#callers.discard(request.caller);
      return { faults: findViolations(operation, caller, sent, received), shown };
    } catch (error) {
      return { faults: [`no response: ${String(error)}`], shown };
    }
  }
}

/** Identifies a kind of violation, without request-specific numbers and names. */
const findingKind = (operation: Operation, fault: string): string =>
  `${operation.id} ${fault.replaceAll(/\S*[/\d]\S*/g, '').slice(0, 120)}`;

/** Mixes the seed and the index, so that consecutive requests have independent seeds. */
function mixSeed(seed: number, index: number): number {
  let mix = (seed ^ Math.imul(index + 1, 0x9e3779b1)) | 0;
  mix = Math.imul(mix ^ (mix >>> 16), 0x85ebca6b);
  mix = Math.imul(mix ^ (mix >>> 13), 0xc2b2ae35);
  return (mix ^ (mix >>> 16)) | 0;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // the response is a file or has no body
  }
}

export const randomSeed = (): number => Math.floor(Math.random() * 2 ** 31);
