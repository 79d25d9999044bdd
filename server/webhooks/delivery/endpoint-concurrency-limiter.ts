import type { DeliveryCapacity } from './delivery-queue.ts';

/** Maximum number of concurrent attempts per process. */
const totalMax = 64;
/** Maximum number of concurrent attempts to one endpoint. */
const endpointMax = 8;
/** Maximum number of concurrent attempts to a slow endpoint, that is, an endpoint that responds late or not at all. */
const slowEndpointMax = 1;
/** Maximum number of concurrent attempts to all slow endpoints; the remaining capacity is reserved for responsive endpoints. */
const slowTotalMax = 24;

const slowMs = 2_000;
const failuresToSlow = 3;

type Health = { busy: number; failures: number; slow: boolean };

/**
 * Limits the concurrent attempts per endpoint. Only one attempt at a time is made to an endpoint that fails or responds late, until the
 * endpoint responds quickly again. Such an endpoint therefore delays only its own deliveries.
 */
export class EndpointConcurrencyLimiter {
  readonly #endpoints = new Map<number, Health>();
  #busy = 0;

  /**
   * Acquires a slot, and returns the function that releases the slot. If an attempt was made, the caller passes its result to that
   * function.
   */
  acquire(endpointId: number): (result: { failed: boolean; milliseconds: number } | undefined) => void {
    const health = this.#endpoints.get(endpointId) ?? { busy: 0, failures: 0, slow: false };
    this.#endpoints.set(endpointId, health);
    health.busy += 1;
    this.#busy += 1;
    let isReleased = false;
    return (result) => {
      if (isReleased) return;
      isReleased = true;
      health.busy -= 1;
      this.#busy -= 1;
      if (result) {
        health.failures = result.failed ? health.failures + 1 : 0;
        health.slow = result.milliseconds > slowMs || health.failures >= failuresToSlow;
      }
      if (health.busy === 0 && !health.slow && health.failures === 0) this.#endpoints.delete(endpointId);
    };
  }

  /** Returns the number of deliveries that can be claimed. */
  capacity(): DeliveryCapacity {
    const slowBusy = [...this.#endpoints.values()].reduce((sum, { slow, busy }) => sum + (slow ? busy : 0), 0);
    const left = new Map(
      [...this.#endpoints].map(([id, { slow, busy }]) => [
        id,
        Math.max(0, slow ? (slowBusy < slowTotalMax ? slowEndpointMax : 0) - busy : endpointMax - busy),
      ]),
    );
    return { total: totalMax - this.#busy, each: endpointMax, left };
  }

  /** Returns whether there is capacity for one endpoint's batch. With less capacity, querying the queue is not worthwhile. */
  hasBatchCapacity(): boolean {
    return totalMax - this.#busy >= endpointMax;
  }
}
