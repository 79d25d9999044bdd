import type { Io } from '../environment.ts';
import { plainText } from '../terminal/safe-terminal-text.ts';
import { isObject } from '../contract-commands/schema-violations.ts';
import type { Settings } from '../settings/settings.ts';

/** What the steps read of a response. */
type Body = {
  readonly id: number;
  readonly order_id?: number;
  readonly status?: string;
  readonly provider?: string;
  readonly result?: unknown;
};
/** What is left to do, and the command for it without the word `mandate`. */
type Step = { readonly what: string; readonly command: string };
type NextStep = (body: Body) => Step | undefined;

const shippingStep: NextStep = ({ id, status }) => {
  if (status === 'pending') return { what: 'When the parcel leaves', command: `shipments update ${id} --status shipped` };
  return status === 'shipped' ? { what: 'When the parcel has arrived', command: `shipments update ${id} --status delivered` } : undefined;
};

const paymentStep: NextStep = ({ id, order_id: orderId, provider, status }) => {
  if (status === 'failed' || status === 'canceled') return { what: 'Pay for the order', command: `orders pay ${orderId}` };
  if (status === 'pending' && provider === 'manual')
    return { what: 'When the money has arrived, staff confirm the payment', command: `payments confirm ${id}` };
  return status === 'succeeded' ? undefined : { what: 'Wait until the order is paid', command: `orders watch ${orderId} --until paid` };
};

const taskStep: NextStep = ({ id, status, result }) => {
  if (status === 'queued' || status === 'running') return { what: 'Wait for the task', command: `tasks wait ${id}` };
  return status === 'succeeded' && isObject(result)
    ? { what: 'Get the file of the task', command: `tasks result ${id} -o <file>` }
    : undefined;
};

/** What each operation can leave to do. */
const nextSteps: Readonly<Record<string, NextStep>> = {
  'orders.create': ({ id, status }) => (status === 'pending' ? { what: 'Pay for the order', command: `orders pay ${id}` } : undefined),
  'payments.create': paymentStep,
  'payments.get': paymentStep,
  'payments.cancel': paymentStep,
  'payments.confirm': ({ order_id: orderId }) => ({ what: 'Ship the order', command: `shipments create ${orderId}` }),
  'refunds.create': ({ id, status }) =>
    status === 'pending'
      ? { what: 'If the payment was manual, confirm when the money has been returned', command: `refunds confirm ${id}` }
      : undefined,
  'shipments.create': shippingStep,
  'shipments.update': shippingStep,
  'products.create': ({ id, status }) =>
    status === 'draft' ? { what: 'Put the product on sale', command: `products update ${id} --status active` } : undefined,
  'tasks.get': taskStep,
  'tasks.wait': taskStep,
  'webhooks.create': ({ id }) => ({ what: 'Send a test event', command: `webhooks test ${id}` }),
  'apiKeys.create': () => ({ what: 'Use the key in place of a sign-in', command: 'login --with-token' }),
};

/** Prints the command that comes next, for people; programs that read JSON know it themselves. */
export function tellNextStep(io: Io, settings: Settings, operationId: string, body: unknown): void {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what the contract says of the responses of these operations
  const step = isObject(body) ? nextSteps[operationId]?.(body as Body) : undefined;
  if (!step || settings.quiet || settings.format !== 'text' || settings.get !== undefined) return;
  io.stderr.write(`${step.what}: ${suggestedCommand(settings, step.command)}\n`);
}

/** A command to be typed next, for the same profile and service as this one. */
export const suggestedCommand = ({ origin }: Pick<Settings, 'origin'>, command: string): string =>
  plainText(['mandate', command, ...origin].join(' '));
