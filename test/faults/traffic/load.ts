import { setTimeout as sleep } from 'node:timers/promises';
import { Administration } from './administration.ts';
import { arrivalsAt, type Arrivals } from './webhook-receiver.ts';
import { buy, probe } from './shopper.ts';
import { Ledger } from '../audit/confirmed-writes.ts';
import { openFaultShop, type FaultShop } from './shop.ts';
import type { Stage } from '../environments/environment.ts';
import { Visitor } from './oauth-user.ts';

export type LoadSettings = { readonly buyers?: number; readonly visitors?: number; readonly pauseMs?: number };

/** People who use the servers while something happens to them. */
export class Load {
  readonly ledger: Ledger;
  readonly shop: FaultShop;
  readonly administration: Administration;
  readonly arrivals: Arrivals;
  readonly #over = new AbortController();
  readonly #running: Promise<unknown>;

  private constructor(administration: Administration, shop: FaultShop, arrivals: Arrivals, settings: LoadSettings) {
    const { buyers = 5, visitors = 2, pauseMs = 30 } = settings;
    this.administration = administration;
    this.ledger = administration.ledger;
    this.shop = shop;
    this.arrivals = arrivals;
    const { signal } = this.#over;
    this.#running = Promise.all([
      ...Array.from({ length: buyers }, () => buy(administration, shop, pauseMs, signal)),
      ...Array.from({ length: visitors }, () => new Visitor(administration.stage, this.ledger, signal).visit()),
    ]);
  }

  static async begin(stage: Stage, settings: LoadSettings = {}): Promise<Load> {
    const administration = new Administration(stage, new Ledger());
    const shop = await openFaultShop(administration);
    const arrivals = await arrivalsAt(stage, administration);
    return new Load(administration, shop, arrivals, settings);
  }

  /** Until so many more writes are confirmed. */
  async acknowledged(more: number): Promise<void> {
    const { acknowledgements } = this.ledger;
    const enough = acknowledgements.length + more;
    for (const end = Date.now() + 120_000; acknowledgements.length < enough; await sleep(10))
      if (Date.now() > end) throw new Error(`nothing is confirmed any more: ${[...this.ledger.statuses].join(' ')}`);
  }

  /** Has something happen, and gives the seconds from `since` until the first confirmation of a write that was sent after it. */
  async recovery(strike: () => Promise<number>): Promise<number> {
    const recovered = new AbortController();
    const probing = probe(this.administration, this.shop, 10, recovered.signal);
    try {
      const since = await strike();
      const { acknowledgements } = this.ledger;
      for (const end = Date.now() + 120_000; Date.now() < end; await sleep(10)) {
        const after = acknowledgements.filter(({ began }) => began >= since).map(({ ended }) => ended);
        if (after.length > 0) return (Math.min(...after) - since) / 1000;
      }
      throw new Error('nothing was confirmed for two minutes after the fault');
    } finally {
      recovered.abort();
      await probing;
    }
  }

  /** Nobody asks for anything new. */
  async end(): Promise<void> {
    this.#over.abort();
    await this.#running;
  }
}
