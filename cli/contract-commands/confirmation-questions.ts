import { formatMoney, type Client } from '@mandate/client-sdk';
import type { CommandSpec } from '../schema/command-spec-type.ts';
import { isRecord } from '../schema/find-schema-violations.ts';

type Question = (client: Client, path: readonly string[], body: unknown) => string | Promise<string>;

/**
 * Confirmation questions for irreversible operations, by operation ID. The questions for all other DELETE operations are derived from their
 * summaries.
 */
const questions: Readonly<Record<string, Question>> = {
  'orders.cancel': async (client, [id = '']) => `Cancel ${await fetchAndDescribeOrder(client, id)}?`,
  'approvals.approve': async (client, [id = '']) => `Approve ${await fetchAndDescribeApproval(client, id)}?`,
  'users.close': (_, [id]) => `Close the account of user ${id}?`,
  'payments.cancel': (_, [id]) => `Cancel payment ${id}?`,
  'refunds.create': (client, [id = ''], body) => refundQuestion(client, id, isRecord(body) ? body['amount'] : undefined),
  'connectedApps.remove': (_, [id]) => `Revoke all access for connected application ${id}?`,
  'apiKeys.revoke': (_, [id]) => `Revoke API key ${id}?`,
  'applications.delete': (_, [id]) => `Delete application ${id} and revoke all access that users granted to it?`,
  'applications.rotateSecret': (_, [id]) => `Replace the secret of application ${id}?`,
  'signingKeys.rotate': () => 'Replace the token signing keys?',
  'webhooks.delete': (_, [id]) => `Delete webhook endpoint ${id} and its deliveries?`,
  'webhooks.rotateSecret': (_, [id]) => `Replace the secret of webhook endpoint ${id}?`,
};

/** Returns the confirmation question for an irreversible operation, and `undefined` for other operations. */
export function findConfirmationQuestionBuilder({ operationId, method, summary }: CommandSpec): Question | undefined {
  if (method !== 'DELETE') return questions[operationId];
  // `Delete a product` becomes `Delete product 7?`
  return questions[operationId] ?? ((_, [id]) => `${summary.replace(/ an? /, ' ')} ${id}?`);
}

/**
 * Asks the user to confirm a refund, and shows the refundable amount. A dry run returns this amount without requiring additional scopes.
 */
async function refundQuestion(client: Client, orderId: string, requested: unknown): Promise<string> {
  const { amount: refundable, currency } = await client.refunds.create(orderId, {}, { dryRun: true });
  const amount = typeof requested === 'number' ? requested : refundable;
  const money = (minorUnits: number): string => formatMoney(minorUnits, currency);
  if (amount > refundable)
    return `Refund ${money(amount)} for order ${orderId}? This is more than the ${money(refundable)} that can still be refunded.`;
  return `Refund ${money(amount)} for order ${orderId}? ${amount === refundable ? 'Nothing' : money(refundable - amount)} will remain refundable.`;
}

/** Describes an approval, such as `the order requested by My assistant: €60.00 (2 × Mug)`, or returns its ID if it cannot be read. */
async function fetchAndDescribeApproval(client: Client, id: string): Promise<string> {
  const result = await client.approvals.get(id).safe();
  if (!result.ok) return `approval ${id}`;
  const { application_name: application, total, currency, items } = result.data;
  const lines = items.map(({ quantity, name }) => `${quantity} × ${name}`).join(', ');
  return `the order requested by ${application}: ${formatMoney(total, currency)} (${lines})`;
}

/** Describes an order, such as `order 42 (€42.50, paid)`, or returns only its ID if the order cannot be read. */
export async function fetchAndDescribeOrder(client: Client, id: string): Promise<string> {
  const result = await client.orders.get(id).safe();
  if (!result.ok) return `order ${id}`;
  const { total, currency, status } = result.data;
  return `order ${id} (${formatMoney(total, currency)}, ${status})`;
}
