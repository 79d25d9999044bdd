import { createHash } from 'node:crypto';
import { z } from 'zod';
import { startWebhookReceiver } from '../../support/webhooks/webhook-receiver.ts';
import type { AdministrationClient } from './administration-client.ts';
import type { FaultEnvironment } from '../environments/environment.ts';

/** Webhook deliveries for new orders, as received by a subscriber. */
export type WebhookDeliveries = {
  /** The `webhook-id` values of each order. More than one value means a duplicate event. */
  readonly eventIdsByOrder: Map<number, Set<string>>;
  /** Hash of the delivery body for each `webhook-id`. */
  readonly bodies: Map<string, string>;
  /** Number of repeated deliveries, and how many of them had a different body. */
  repeated: number;
  changedBodies: number;
};

const event = z.object({ data: z.object({ object: z.object({ id: z.number() }) }) });
const receivers = new WeakMap<FaultEnvironment, Promise<WebhookDeliveries>>();

/** Returns an environment's webhook receiver. The first call starts and registers the receiver. */
export function openOrderWebhookReceiver(environment: FaultEnvironment, administration: AdministrationClient): Promise<WebhookDeliveries> {
  const deliveries = receivers.get(environment) ?? receive(environment, administration);
  receivers.set(environment, deliveries);
  return deliveries;
}

async function receive(environment: FaultEnvironment, administration: AdministrationClient): Promise<WebhookDeliveries> {
  const receiver = await startWebhookReceiver();
  environment.onClose(() => receiver.close());
  const deliveries: WebhookDeliveries = { eventIdsByOrder: new Map(), bodies: new Map(), repeated: 0, changedBodies: 0 };
  const { eventIdsByOrder, bodies } = deliveries;
  receiver.handleDelivery = ({ headers, text, body }, res) => {
    const id = headers['webhook-id'] ?? '';
    const orderId = event.parse(body).data.object.id;
    const fingerprint = createHash('sha256').update(text).digest('base64url');
    const before = bodies.get(id);
    if (before !== undefined) deliveries.repeated += 1;
    if (before !== undefined && before !== fingerprint) deliveries.changedBodies += 1;
    bodies.set(id, fingerprint);
    eventIdsByOrder.set(orderId, (eventIdsByOrder.get(orderId) ?? new Set()).add(id));
    receiver.deliveries.length = 0; // limits the memory use of long runs
    res.writeHead(204).end();
  };
  await administration.create('/webhook-endpoints', () => ({ url: receiver.url, events: ['order.created'] }));
  return deliveries;
}
