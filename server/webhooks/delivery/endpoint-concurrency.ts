import type { Room } from './delivery-queue.ts';

/** Attempts under way at a time, in one process. */
const total = 64;
/** And to one endpoint. */
const each = 8;
/** To one that lets others wait: it answers late or not at all. */
const eachSlow = 1;
/** And to all of those together: the rest is for those that answer. */
const totalSlow = 24;

const slowMs = 2_000;
const failuresToSlow = 3;

type Health = { busy: number; failures: number; slow: boolean };

/**
 * Who may have how many attempts under way. An endpoint that fails or answers late is left one at a time, until it is quick again:
 * what it holds up is its own deliveries, not those of others.
 */
export class Slots {
  readonly #endpoints = new Map<number, Health>();
  #busy = 0;

  /** Takes one, and gives the function that returns it, with how it went; undefined when it never came to an attempt. */
  take(endpointId: number): (result: { failed: boolean; milliseconds: number } | undefined) => void {
    const health = this.#endpoints.get(endpointId) ?? { busy: 0, failures: 0, slow: false };
    this.#endpoints.set(endpointId, health);
    health.busy += 1;
    this.#busy += 1;
    let returned = false;
    return (result) => {
      if (returned) return;
      returned = true;
      health.busy -= 1;
      this.#busy -= 1;
      if (result) {
        health.failures = result.failed ? health.failures + 1 : 0;
        health.slow = result.milliseconds > slowMs || health.failures >= failuresToSlow;
      }
      if (health.busy === 0 && !health.slow && health.failures === 0) this.#endpoints.delete(endpointId);
    };
  }

  room(): Room {
    const slowBusy = [...this.#endpoints.values()].reduce((sum, { slow, busy }) => sum + (slow ? busy : 0), 0);
    const left = new Map(
      [...this.#endpoints].map(([id, { slow, busy }]) => [
        id,
        Math.max(0, slow ? (slowBusy < totalSlow ? eachSlow : 0) - busy : each - busy),
      ]),
    );
    return { total: total - this.#busy, each, left };
  }

  /** Whether a look at the queue is worth its while. */
  isRoomy(): boolean {
    return total - this.#busy >= each;
  }
}
