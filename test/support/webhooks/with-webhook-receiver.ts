import { afterEach, beforeEach } from 'vitest';
import type { ApiServer } from '../server/start-mandate.ts';
import { startWebhookReceiver, type WebhookReceiver } from './webhook-receiver.ts';

/** Starts a webhook receiver before each test. After the test, closes the receiver and deletes all webhook endpoints. */
export function withWebhookReceiver(server: Pick<ApiServer, 'db'>): Omit<WebhookReceiver, 'close'> {
  let receiver: WebhookReceiver | undefined;
  const running = (): WebhookReceiver => {
    if (!receiver) throw new Error('the webhook receiver has not started');
    return receiver;
  };
  beforeEach(async () => {
    receiver = await startWebhookReceiver();
  });
  afterEach(async () => {
    await receiver?.close();
    await server.db.em.fork().execute('delete from webhook_endpoints');
  });
  return {
    get url() {
      return running().url;
    },
    get deliveries() {
      return running().deliveries;
    },
    get handleDelivery() {
      return running().handleDelivery;
    },
    set handleDelivery(handler) {
      running().handleDelivery = handler;
    },
  };
}
