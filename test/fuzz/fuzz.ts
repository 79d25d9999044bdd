import { setTimeout as sleep } from 'node:timers/promises';
import * as fc from 'fast-check';
import { KnownThings } from './placeholders.ts';
import { openShop } from '../support/server/shop.ts';
import { carryOutTasks } from '../support/tasks.ts';
import type { Mandate } from '../support/server/start-mandate.ts';
import { callerNames, Callers } from './callers.ts';
import type { Operation } from './document.ts';
import { codeIn, faultsOf } from './check-response.ts';
import { requestsOf, type FuzzRequest } from './requests.ts';
import { describe, prepared, type Received, Sender, type Sent } from './send.ts';

export type Finding = {
  readonly operation: string;
  /** With which `--seed` and `--only` the request is made again. */
  readonly seed: number;
  readonly index: number;
  readonly fault: string;
  /** The smallest request that still shows it. */
  readonly request: string;
};

export type Fuzzing = {
  readonly mandate: Mandate;
  readonly operations: readonly Operation[];
  readonly seed: number;
  /** The requests with these numbers, of each operation in turn. */
  readonly first: number;
  readonly count: number;
  readonly atOnce?: number;
  /** No request begins later than this after the first. */
  readonly timeMs?: number;
  readonly onAnswer?: (operation: Operation, status: number) => void;
};

/** Requests to make one smaller, after which what there is will do. */
const shrinksMax = 150;
/** Files that were sent to be imported are, as the background would. */
const tasksEvery = 500;

/** Asks the server what nobody should and everybody may, and gives what was wrong with its answers: each kind of fault once for an operation. */
export async function fuzz({
  mandate,
  operations,
  seed,
  first,
  count,
  atOnce = 8,
  timeMs = Number.POSITIVE_INFINITY,
  onAnswer,
}: Fuzzing): Promise<Finding[]> {
  const shop = await openShop(mandate);
  const run = new Run(mandate, seed, atOnce, onAnswer);
  for (let made = 0; made < 10; made += 1) run.known.keep('product_id', (await shop.product({ stock: 100_000 })).id);
  const requests = operations.map((operation) => requestsOf(operation));
  await run.callersAreReady();
  let next = first;
  const begun = performance.now();
  const isOver = (): boolean => performance.now() - begun > timeMs;
  const work = async (): Promise<void> => {
    while (next < first + count && !isOver()) {
      const index = next++;
      const [operation, arbitrary] = [operations[index % operations.length], requests[index % operations.length]];
      if (operation && arbitrary) await run.one(operation, arbitrary, index);
      if (index % tasksEvery === tasksEvery - 1) await carryOutTasks(mandate);
    }
  };
  try {
    await Promise.all(Array.from({ length: atOnce }, work));
  } finally {
    run.close();
  }
  return run.findings;
}

class Run {
  readonly known = new KnownThings();
  readonly findings: Finding[] = [];
  readonly #seen = new Set<string>();
  readonly #callers: Callers;
  readonly #sender: Sender;
  readonly #seed: number;
  readonly #onAnswer: Fuzzing['onAnswer'];

  constructor(mandate: Mandate, seed: number, atOnce: number, onAnswer: Fuzzing['onAnswer']) {
    this.#callers = new Callers(mandate);
    this.#sender = new Sender(mandate.origin, atOnce);
    this.#seed = seed;
    this.#onAnswer = onAnswer;
  }

  async callersAreReady(): Promise<void> {
    for (const name of callerNames) await this.#callers.get(name);
  }

  close(): void {
    this.#sender.close();
  }

  /** One request; when its answer is wrong, smaller ones until the smallest. */
  async one(operation: Operation, arbitrary: fc.Arbitrary<FuzzRequest>, index: number): Promise<void> {
    let [tries, smallest]: [number, { fault: string; request: string } | undefined] = [0, undefined];
    const isRight = fc.asyncProperty(arbitrary, async (request) => {
      if ((tries += 1) > shrinksMax) return true;
      const { faults, shown } = await this.#ask(operation, request);
      const [fault] = faults.filter((one) => !this.#seen.has(kindOf(operation, one)));
      if (fault === undefined) return true;
      smallest = { fault, request: shown() };
      return false;
    });
    const { errorInstance: error } = await fc.check(isRight, { seed: mixed(this.#seed, index), numRuns: 1 });
    if (error instanceof Error && !error.message.startsWith('Property failed')) throw error;
    // its type is still what it was before the property ran
    const found = smallest as { fault: string; request: string } | undefined;
    if (!found) return;
    this.#seen.add(kindOf(operation, found.fault));
    this.findings.push({ operation: operation.id, seed: this.#seed, index, ...found });
  }

  /** 503 says to try again: a machine that does other work may be too slow for a moment, but not three times in ten seconds. */
  async #sendPatiently(sent: Sent): Promise<Received> {
    for (let tries = 1; ; tries += 1) {
      const received = await this.#sender.send(sent);
      if (received.status !== 503 || tries === 3) return received;
      await sleep(5_000);
    }
  }

  async #ask(operation: Operation, request: FuzzRequest): Promise<{ faults: string[]; shown: () => string }> {
    const caller = await this.#callers.get(request.caller);
    const sent = prepared(request, this.known, caller);
    const shown = (): string => `as ${request.caller}: ${describe(sent)}`;
    try {
      const received = await this.#sendPatiently(sent);
      this.#onAnswer?.(operation, received.status);
      if (received.status < 300) this.known.learn(sent.path, parsed(received.text), received.headers.get('etag'));
      // somebody took its access from it, or put a limit to it
      const isRefused = received.status === 401 || (received.status === 429 && codeIn(received.text) !== '');
      if (isRefused && caller.scopes.length > 0 && !('authorization' in request.headers)) this.#callers.renew(request.caller);
      return { faults: faultsOf(operation, caller, sent, received), shown };
    } catch (error) {
      return { faults: [`no answer: ${String(error)}`], shown };
    }
  }
}

/** Numbers and names of one request do not make another kind of fault. */
const kindOf = (operation: Operation, fault: string): string => `${operation.id} ${fault.replaceAll(/\S*[/\d]\S*/g, '').slice(0, 120)}`;

/** Neighbouring numbers give seeds that have nothing to do with each other. */
function mixed(seed: number, index: number): number {
  let mix = (seed ^ Math.imul(index + 1, 0x9e3779b1)) | 0;
  mix = Math.imul(mix ^ (mix >>> 16), 0x85ebca6b);
  mix = Math.imul(mix ^ (mix >>> 13), 0xc2b2ae35);
  return (mix ^ (mix >>> 16)) | 0;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // a file, or nothing
  }
}

export const freshSeed = (): number => Math.floor(Math.random() * 2 ** 31);
