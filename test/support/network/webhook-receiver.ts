import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { createLog } from '../../../server/logging/logger.ts';
import { assignEventSequence } from '../../../server/events/assign-sequence.ts';
import { deriveKeys } from '../../../server/crypto/derived-keys.ts';
import { DeliveryWorker } from '../../../server/webhooks/delivery/delivery-worker.ts';
import { createWebhookDeliveriesForEvents } from '../../../server/webhooks/delivery/create-webhook-deliveries.ts';
import { publicNetworkPolicy, type NetworkPolicy } from '../../../server/outgoing-http/protected-client.ts';
import type { Body, Mandate } from '../server/start-mandate.ts';
import { secretOfTests } from '../oauth/secret-hash.ts';

export type Received = {
  readonly at: number;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
  readonly body: Body;
};
export type Answering = (received: Received, res: ServerResponse) => unknown;

export type Receiver = {
  readonly url: string;
  readonly received: Received[];
  /** What it answers from now on: 204 unless it is told otherwise. */
  answer: Answering;
  close(): Promise<void>;
};

/** Somebody's server that takes events. */
export async function openReceiver(port = 0): Promise<Receiver> {
  const received: Received[] = [];
  const server = createServer((req, res) => {
    let text = '';
    req.setEncoding('utf8');
    req.on('data', (chunk: string) => (text += chunk));
    req.on('end', () => {
      const delivery: Received = {
        at: performance.now(),
        path: req.url ?? '',
        headers: Object.fromEntries(Object.entries(req.headers).map(([name, value]) => [name, String(value)])),
        text,
        body: JSON.parse(text),
      };
      received.push(delivery);
      void receiver.answer(delivery, res);
    });
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  const receiver: Receiver = {
    url: `http://127.0.0.1:${address.port}/hooks`,
    received,
    answer: (_, res) => res.writeHead(204).end(),
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
  return receiver;
}

/** What the server does in the background: gives events their places and sends them. */
export function delivererOf(
  { db }: Pick<Mandate, 'db'>,
  network: NetworkPolicy = publicNetworkPolicy(true),
  log = createLog(false),
): DeliveryWorker {
  const keys = deriveKeys(secretOfTests);
  return new DeliveryWorker({ em: db.em, log, key: keys.webhooks, network, notice: { mailKey: keys.mail, canMail: true } });
}

/** Everything that is due by now is sent, and answered or given up. */
export async function deliver(mandate: Mandate, deliverer: DeliveryWorker = delivererOf(mandate)): Promise<void> {
  await assignEventSequence(mandate.db.em.fork(), createWebhookDeliveriesForEvents);
  await deliverer.waitUntilIdle();
}

/** As if so many seconds had passed: what is to be tried again comes nearer. */
export const passSeconds = ({ db }: Mandate, seconds: number): Promise<unknown> =>
  db.em
    .fork()
    .execute(`update webhook_deliveries set next_attempt_at = next_attempt_at - make_interval(secs => ?) where status = 'pending'`, [
      seconds,
    ]);
