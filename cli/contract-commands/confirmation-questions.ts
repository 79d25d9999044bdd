import { formatMoney, type Client } from '@mandate/client-sdk';
import { isObject } from './schema-violations.ts';

type Question = (client: Client, path: readonly string[], body: unknown) => string | Promise<string>;

/** What is asked before something that cannot be undone. */
export const questions: Readonly<Record<string, Question>> = {
  'orders.cancel': async (client, [id = '']) => `Cancel ${await describedOrder(client, id)}?`,
  'users.close': (_, [id]) => `Close the account of user ${id}?`,
  'products.delete': (_, [id]) => `Delete product ${id}?`,
  'payments.cancel': (_, [id]) => `Cancel payment ${id}?`,
  'refunds.create': (client, [id = ''], body) => refundQuestion(client, id, isObject(body) ? body['amount'] : undefined),
  'connectedApps.remove': (_, [id]) => `Take all access from the application of connection ${id}?`,
  'apiKeys.revoke': (_, [id]) => `Revoke API key ${id}?`,
  'applications.delete': (_, [id]) => `Delete application ${id}, with all access that people gave it?`,
  'applications.rotateSecret': (_, [id]) => `Replace the secret of application ${id}?`,
  'signingKeys.rotate': () => 'Replace the keys that tokens are signed with?',
  'webhooks.delete': (_, [id]) => `Delete webhook endpoint ${id}, with its deliveries?`,
  'webhooks.rotateSecret': (_, [id]) => `Replace the secret of webhook endpoint ${id}?`,
  'deliveryMethods.delete': (_, [code]) => `Delete the delivery method ${code}?`,
};

/** How much is refunded, and how much of the payment remains. A dry run of everything that is left tells, with the scope of the refund. */
async function refundQuestion(client: Client, orderId: string, asked: unknown): Promise<string> {
  const { amount: left, currency } = await client.refunds.create(orderId, {}, { dryRun: true });
  const amount = typeof asked === 'number' ? asked : left;
  const money = (minorUnits: number): string => formatMoney(minorUnits, currency);
  if (amount > left) return `Refund ${money(amount)} for order ${orderId}, of which only ${money(left)} can be refunded?`;
  return `Refund ${money(amount)} for order ${orderId}? ${amount === left ? 'Nothing' : money(left - amount)} remains refundable.`;
}

/** `order 42 (42.50 EUR, paid)`; without the scope to read it, its number has to do. */
export async function describedOrder(client: Client, id: string): Promise<string> {
  const result = await client.orders.get(id).safe();
  if (!result.ok) return `order ${id}`;
  const { total, currency, status } = result.data;
  return `order ${id} (${formatMoney(total, currency)}, ${status})`;
}
