import { createServer, type ServerResponse } from 'node:http';
import { createLogger } from '../../../server/logging/logger.ts';
import { assignEventSequenceNumbers } from '../../../server/events/assign-event-sequence-numbers.ts';
import { deriveKeys } from '../../../server/crypto/derived-keys-and-server-secret.ts';
import { DeliveryWorker } from '../../../server/webhooks/delivery/delivery-worker.ts';
import { createWebhookDeliveriesForEvents } from '../../../server/webhooks/delivery/create-webhook-deliveries.ts';
import { createPublicAddressesOnlyNetworkPolicy, type NetworkPolicy } from '../../../server/outgoing-http/ssrf-protected-connection.ts';
import type { ApiServer, JsonBody } from '../server/start-mandate.ts';
import { testServerSecret } from '../server/test-server-secret.ts';
import { closeServer, listenOnLoopback } from '../network/loopback-server.ts';

export type ReceivedDelivery = {
  readonly receivedAtMs: number;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
  readonly body: JsonBody;
};
export type DeliveryHandler = (received: ReceivedDelivery, res: ServerResponse) => unknown;

export type WebhookReceiver = {
  readonly url: string;
  readonly deliveries: ReceivedDelivery[];
  /** Writes the response to a delivery (default: 204). */
  handleDelivery: DeliveryHandler;
  close(): Promise<void>;
};

/** Starts an HTTP server that receives webhook deliveries. */
export async function startWebhookReceiver(port = 0): Promise<WebhookReceiver> {
  const received: ReceivedDelivery[] = [];
  const server = createServer((req, res) => {
    let text = '';
    req.setEncoding('utf8');
    req.on('data', (chunk: string) => (text += chunk));
    req.on('end', () => {
      const delivery: ReceivedDelivery = {
        receivedAtMs: performance.now(),
        path: req.url ?? '',
        headers: Object.fromEntries(Object.entries(req.headers).map(([name, value]) => [name, String(value)])),
        text,
        body: JSON.parse(text),
      };
      received.push(delivery);
      void receiver.handleDelivery(delivery, res);
    });
  });
  const listeningPort = await listenOnLoopback(server, port);
  const receiver: WebhookReceiver = {
    url: `http://127.0.0.1:${listeningPort}/hooks`,
    deliveries: received,
    handleDelivery: (_, res) => res.writeHead(204).end(),
    async close() {
      await closeServer(server);
    },
  };
  return receiver;
}

/** Creates a delivery worker like the server's, but with test keys. */
export function createDeliveryWorker(
  { db }: Pick<ApiServer, 'db'>,
  network: NetworkPolicy = createPublicAddressesOnlyNetworkPolicy(true),
  log = createLogger(false),
): DeliveryWorker {
  const keys = deriveKeys(testServerSecret);
  return new DeliveryWorker({
    em: db.em,
    log,
    key: keys.webhooks,
    network,
    notice: { mailKey: keys.mail, issuer: 'http://localhost', canMail: true },
  });
}

/** Assigns sequence numbers to all events, and attempts all pending deliveries. */
export async function deliverPendingEvents(mandate: ApiServer, deliverer: DeliveryWorker = createDeliveryWorker(mandate)): Promise<void> {
  await assignEventSequenceNumbers(mandate.db.em.fork(), createWebhookDeliveriesForEvents);
  await deliverer.waitUntilIdle();
}

/** Reschedules the next attempt of every pending delivery to an earlier time, by the given number of seconds. */
export const advanceDeliveryRetries = ({ db }: ApiServer, seconds: number): Promise<unknown> =>
  db.em
    .fork()
    .execute(`update webhook_deliveries set next_attempt_at = next_attempt_at - make_interval(secs => ?) where status = 'pending'`, [
      seconds,
    ]);
