import { createHash } from 'node:crypto';
import { z } from 'zod';
import { openReceiver } from '../../support/network/webhook-receiver.ts';
import type { Administration } from './administration.ts';
import type { Stage } from '../environments/environment.ts';

/** What arrived at somebody's server that takes events of new orders. */
export type Arrivals = {
  /** Under which `webhook-id` each order was told of: one, or something is doubled. */
  readonly idsOfOrders: Map<number, Set<string>>;
  /** A fingerprint of the body that came under each id. */
  readonly bodies: Map<string, string>;
  /** How many deliveries came once more, and how many of these with another body. */
  again: number;
  changed: number;
};

const event = z.object({ data: z.object({ object: z.object({ id: z.number() }) }) });
const receivers = new WeakMap<Stage, Promise<Arrivals>>();

/** One for each stage, registered when it is first asked for. */
export function arrivalsAt(stage: Stage, administration: Administration): Promise<Arrivals> {
  const arrivals = receivers.get(stage) ?? receive(stage, administration);
  receivers.set(stage, arrivals);
  return arrivals;
}

async function receive(stage: Stage, administration: Administration): Promise<Arrivals> {
  const receiver = await openReceiver();
  stage.alsoClose(() => receiver.close());
  const arrivals: Arrivals = { idsOfOrders: new Map(), bodies: new Map(), again: 0, changed: 0 };
  const { idsOfOrders, bodies } = arrivals;
  receiver.answer = ({ headers, text, body }, res) => {
    const id = headers['webhook-id'] ?? '';
    const orderId = event.parse(body).data.object.id;
    const fingerprint = createHash('sha256').update(text).digest('base64url');
    const before = bodies.get(id);
    if (before !== undefined) arrivals.again += 1;
    if (before !== undefined && before !== fingerprint) arrivals.changed += 1;
    bodies.set(id, fingerprint);
    idsOfOrders.set(orderId, (idsOfOrders.get(orderId) ?? new Set()).add(id));
    receiver.received.length = 0; // else a long run would keep them all
    res.writeHead(204).end();
  };
  await administration.make('/webhook-endpoints', () => ({ url: receiver.url, events: ['order.created'] }));
  return arrivals;
}
