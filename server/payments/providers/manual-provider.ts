import type { PaymentProvider } from './payment-provider.ts';

const prefix = 'manual-';
const pending = { status: 'pending', amountReceived: 0, currency: '' } as const;

/** Provider for cash and bank transfers. Staff report when money has been received or refunded. */
export const manualProvider: PaymentProvider = {
  name: 'manual',
  isPolled: false,
  reservation: 'long',
  create: ({ idempotencyKey }) => Promise.resolve({ ...pending, reference: `${prefix}${idempotencyKey}` }),
  retrieve: (reference) => Promise.resolve({ ...pending, reference }),
  cancel: (reference) => Promise.resolve({ ...pending, reference, status: 'canceled' }),
  refund: (_reference, { idempotencyKey }) => Promise.resolve({ reference: `${prefix}${idempotencyKey}`, status: 'pending' }),
  retrieveRefund: (reference) => Promise.resolve({ reference, status: 'pending' }),
};
