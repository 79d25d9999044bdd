import cluster, { type Worker } from 'node:cluster';
import type { RateLimitState } from '../http/request/rate-limit-state-type.ts';
import { createRateLimitCounters, type RateLimitCounters } from './memory-or-redis-counters.ts';

type CountedRequest = { readonly policy: string; readonly limit: number; readonly key: string };
/** Asks the supervisor to count requests. Several requests are sent as one message, because each message costs both processes CPU time. */
type CountMessage = {
  readonly type: 'mandate:count-requests';
  readonly id: number;
  readonly windowSeconds: number;
  readonly requests: readonly CountedRequest[];
};
/** The rate limit state after each request, in the order of the requests. */
type CountedMessage = {
  readonly type: 'mandate:counted-requests';
  readonly id: number;
  readonly states: readonly (Omit<RateLimitState, 'resetsAt'> & { readonly resetsAt: number })[];
};

const hasType = <Message extends CountMessage | CountedMessage>(message: unknown, type: Message['type']): message is Message =>
  typeof message === 'object' && message !== null && 'type' in message && message.type === type;

/** How long a server process waits for the supervisor before it counts requests by itself, in milliseconds. */
const maxWaitMs = 1_000;

/** Counts the requests to all server processes. This function runs in the supervisor. */
export function countRequestsOfProcessesInSupervisor(): void {
  const counters = new Map<number, RateLimitCounters>();
  const countAll = async (worker: Worker, { id, windowSeconds, requests }: CountMessage): Promise<void> => {
    const forWindow = counters.get(windowSeconds) ?? createRateLimitCounters(windowSeconds);
    counters.set(windowSeconds, forWindow);
    const states = await Promise.all(requests.map(({ policy, limit, key }) => forWindow.count(policy, limit, key)));
    const response: CountedMessage = {
      type: 'mandate:counted-requests',
      id,
      states: states.map((state) => ({ ...state, resetsAt: state.resetsAt.getTime() })),
    };
    // no response is sent to a process that has exited in the meantime
    if (worker.isConnected()) worker.send(response, () => undefined);
  };
  cluster.on('message', (worker, message: unknown) => {
    if (hasType<CountMessage>(message, 'mandate:count-requests')) void countAll(worker, message);
  });
}

type PendingRequest = CountedRequest & { readonly resolve: (state: RateLimitState) => void };

/**
 * Creates counters that the supervisor keeps for all its server processes. If the supervisor does not respond, this process counts requests
 * by itself, so that no client is rejected because of the delay.
 */
export function createSupervisorCounters(windowSeconds: number): RateLimitCounters {
  const localCounters = createRateLimitCounters(windowSeconds);
  const sent = new Map<number, { readonly requests: readonly PendingRequest[]; readonly timer: NodeJS.Timeout }>();
  let pending: PendingRequest[] = [];
  let lastId = 0;

  const countLocally = async (requests: readonly PendingRequest[]): Promise<void> => {
    for (const { policy, limit, key, resolve } of requests) resolve(await localCounters.count(policy, limit, key));
  };
  const take = (id: number): readonly PendingRequest[] => {
    const { requests = [], timer } = sent.get(id) ?? {};
    clearTimeout(timer);
    sent.delete(id);
    return requests;
  };
  const send = (): void => {
    const requests = pending;
    pending = [];
    const id = (lastId += 1);
    sent.set(id, { requests, timer: setTimeout(() => void countLocally(take(id)), maxWaitMs) });
    const message: CountMessage = {
      type: 'mandate:count-requests',
      id,
      windowSeconds,
      requests: requests.map(({ policy, limit, key }) => ({ policy, limit, key })),
    };
    process.send?.(message, undefined, undefined, (error) => error && void countLocally(take(id)));
  };
  process.on('message', (message) => {
    if (!hasType<CountedMessage>(message, 'mandate:counted-requests')) return;
    for (const [index, { resolve }] of take(message.id).entries()) {
      const state = message.states[index];
      if (state) resolve({ ...state, resetsAt: new Date(state.resetsAt) });
    }
  });
  return {
    count: (policy, limit, key) =>
      new Promise((resolve) => {
        pending.push({ policy, limit, key, resolve });
        if (pending.length === 1) setImmediate(send);
      }),
  };
}
