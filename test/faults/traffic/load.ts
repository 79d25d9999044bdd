import { setTimeout as sleep } from 'node:timers/promises';
import { AdministrationClient } from './administration-client.ts';
import { openOrderWebhookReceiver, type WebhookDeliveries } from './order-webhook-deliveries.ts';
import { simulateShopper, sendOrderProbes } from './simulated-shoppers.ts';
import { Ledger } from './confirmed-writes.ts';
import { openFaultShop, type FaultShop } from './fault-shop.ts';
import type { FaultEnvironment } from '../environments/environment.ts';
import { SimulatedUser } from './simulated-user.ts';

export type LoadSettings = { readonly shoppers?: number; readonly users?: number; readonly pauseMs?: number };

/** Simulated clients that use the servers while faults are injected. */
export class Load {
  readonly ledger: Ledger;
  readonly shop: FaultShop;
  readonly administration: AdministrationClient;
  readonly deliveries: WebhookDeliveries;
  readonly #stopped = new AbortController();
  readonly #running: Promise<unknown>;

  private constructor(administration: AdministrationClient, shop: FaultShop, deliveries: WebhookDeliveries, settings: LoadSettings) {
    const { shoppers = 5, users = 2, pauseMs = 30 } = settings;
    this.administration = administration;
    this.ledger = administration.ledger;
    this.shop = shop;
    this.deliveries = deliveries;
    const { signal } = this.#stopped;
    this.#running = Promise.all([
      ...Array.from({ length: shoppers }, () => simulateShopper(administration, shop, pauseMs, signal)),
      ...Array.from({ length: users }, () => new SimulatedUser(administration.environment, this.ledger, signal).signInRepeatedly()),
    ]);
  }

  static async start(environment: FaultEnvironment, settings: LoadSettings = {}): Promise<Load> {
    const administration = new AdministrationClient(environment, new Ledger());
    const shop = await openFaultShop(administration);
    const deliveries = await openOrderWebhookReceiver(environment, administration);
    return new Load(administration, shop, deliveries, settings);
  }

  /** Waits until `more` additional writes have been confirmed. */
  async waitForWrites(more: number): Promise<void> {
    const { acknowledgements } = this.ledger;
    const enough = acknowledgements.length + more;
    for (const end = Date.now() + 120_000; acknowledgements.length < enough; await sleep(10))
      if (Date.now() > end) throw new Error(`writes are no longer confirmed: ${[...this.ledger.statuses].join(' ')}`);
  }

  /**
   * Injects a fault, and returns the recovery time in seconds: from `since` until the first confirmation of a write that was sent after
   * `since`.
   */
  async measureRecovery(inject: () => Promise<number>): Promise<number> {
    const recovered = new AbortController();
    const probes = sendOrderProbes(this.administration, this.shop, 10, recovered.signal);
    try {
      const since = await inject();
      const { acknowledgements } = this.ledger;
      for (const end = Date.now() + 120_000; Date.now() < end; await sleep(10)) {
        const after = acknowledgements.filter(({ began }) => began >= since).map(({ ended }) => ended);
        if (after.length > 0) return (Math.min(...after) - since) / 1000;
      }
      throw new Error('no write was confirmed for two minutes after the fault');
    } finally {
      recovered.abort();
      await probes;
    }
  }

  /** Stops sending requests, and waits until the pending requests have completed. */
  async stop(): Promise<void> {
    this.#stopped.abort();
    await this.#running;
  }
}
