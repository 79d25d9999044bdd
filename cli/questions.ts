import { formatMoney, type Client } from '@mandate/client-sdk';

/** What is asked before something that cannot be taken back. */
export const questions: Readonly<Record<string, (client: Client, path: readonly string[]) => string | Promise<string>>> = {
  'orders.cancel': async (client, [id = '']) => `Cancel ${await describedOrder(client, id)}?`,
  'users.close': (_, [id]) => `Close the account of user ${id}?`,
  'products.delete': (_, [id]) => `Delete product ${id}?`,
  'payments.cancel': (_, [id]) => `Cancel payment ${id}?`,
  'refunds.create': async (client, [id = '']) => `Pay money back for ${await describedOrder(client, id)}?`,
  'connectedApps.remove': (_, [id]) => `Take all access from the application of connection ${id}?`,
  'apiKeys.revoke': (_, [id]) => `Revoke API key ${id}?`,
  'applications.delete': (_, [id]) => `Delete application ${id}, with all access that people gave it?`,
  'applications.rotateSecret': (_, [id]) => `Replace the secret of application ${id}?`,
  'signingKeys.rotate': () => 'Replace the keys that tokens are signed with?',
  'webhooks.delete': (_, [id]) => `Delete webhook endpoint ${id}, with its deliveries?`,
  'webhooks.rotateSecret': (_, [id]) => `Replace the secret of webhook endpoint ${id}?`,
  'deliveryMethods.delete': (_, [code]) => `Delete the delivery method ${code}?`,
};

/** `order 42 (42.50 EUR, paid)`; without the scope to read it, its number has to do. */
export async function describedOrder(client: Client, id: string): Promise<string> {
  const result = await client.orders.get(id).safe();
  if (!result.ok) return `order ${id}`;
  const { total, currency, status } = result.data;
  return `order ${id} (${formatMoney(total, currency)}, ${status})`;
}
