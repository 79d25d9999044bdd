import type { CliEnvironment } from '../environment/cli-environment-type.ts';
import { sanitizeForTerminal } from '../terminal/sanitize-and-measure-terminal-text.ts';
import { isRecord } from '../schema/find-schema-violations.ts';
import type { Settings } from '../settings/resolve-settings.ts';

/** The response fields that determine the suggested next step. */
type ResponseBody = {
  readonly id: number;
  readonly order_id?: number;
  readonly quote_id?: number;
  readonly status?: string;
  readonly provider?: string;
  readonly result?: unknown;
};
/** A suggested next step and its command, without the leading `mandate`. */
type Step = { readonly text: string; readonly command: string };
type NextStep = (body: ResponseBody) => Step | undefined;

const shippingStep: NextStep = ({ id, status }) => {
  if (status === 'pending') return { text: 'When the parcel has been shipped', command: `shipments update ${id} --status shipped` };
  return status === 'shipped'
    ? { text: 'When the parcel has been delivered', command: `shipments update ${id} --status delivered` }
    : undefined;
};

const paymentStep: NextStep = ({ id, order_id: orderId, provider, status }) => {
  if (status === 'failed' || status === 'canceled') return { text: 'Pay for the order', command: `orders pay ${orderId}` };
  if (status === 'pending' && provider === 'manual')
    return { text: 'When the money has been received, a staff member confirms the payment', command: `payments confirm ${id}` };
  return status === 'succeeded' ? undefined : { text: 'Wait until the order is paid', command: `orders watch ${orderId} --until paid` };
};

const taskStep: NextStep = ({ id, status, result }) => {
  if (status === 'queued' || status === 'running') return { text: 'Wait for the task', command: `tasks wait ${id}` };
  return status === 'succeeded' && isRecord(result)
    ? { text: 'Download the result file', command: `tasks result ${id} -o <file>` }
    : undefined;
};

const approvalStep: NextStep = ({ id, quote_id: quoteId, status }) => {
  if (status === 'pending') return { text: "Wait for the customer's decision", command: `approvals get ${id} --wait 30` };
  return status === 'approved' ? { text: 'Place the order', command: `orders create --quote-id ${quoteId}` } : undefined;
};

/** The next step to suggest after each operation. */
const nextSteps: Readonly<Record<string, NextStep>> = {
  'orders.create': ({ id, status }) => (status === 'pending' ? { text: 'Pay for the order', command: `orders pay ${id}` } : undefined),
  'quotes.create': ({ id }) => ({ text: 'Place the order', command: `orders create --quote-id ${id}` }),
  'approvals.create': approvalStep,
  'approvals.get': approvalStep,
  'payments.create': paymentStep,
  'payments.get': paymentStep,
  'payments.cancel': paymentStep,
  'payments.confirm': ({ order_id: orderId }) => ({ text: 'Ship the order', command: `shipments create ${orderId}` }),
  'refunds.create': ({ id, status }) =>
    status === 'pending'
      ? { text: 'If the payment was manual, confirm the refund when the money has been returned', command: `refunds confirm ${id}` }
      : undefined,
  'shipments.create': shippingStep,
  'shipments.update': shippingStep,
  'products.create': ({ id, status }) =>
    status === 'draft' ? { text: 'Put the product up for sale', command: `products update ${id} --status active` } : undefined,
  'tasks.get': taskStep,
  'tasks.wait': taskStep,
  'webhooks.create': ({ id }) => ({ text: 'Send a test event', command: `webhooks test ${id}` }),
  'apiKeys.create': () => ({ text: 'Sign in with the new key', command: 'login --with-token' }),
};

/** Prints the suggested next command, unless `--quiet` or a machine-readable output format is set. */
export function printSuggestedNextCommand(io: CliEnvironment, settings: Settings, operationId: string, body: unknown): void {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the contract defines the responses of these operations
  const step = isRecord(body) ? nextSteps[operationId]?.(body as ResponseBody) : undefined;
  if (!step || settings.quiet || settings.format !== 'text' || settings.get !== undefined) return;
  io.stderr.write(`${step.text}: ${formatSuggestedCommandForSameProfile(settings, step.command)}\n`);
}

/** Formats a suggested command that uses the same profile and service as the current command. */
export const formatSuggestedCommandForSameProfile = ({ selectionFlags }: Settings, command: string): string =>
  sanitizeForTerminal(['mandate', command, ...selectionFlags].join(' '));
