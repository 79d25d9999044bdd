import type { PaymentProvider } from './payment-provider.ts';

const prefix = 'manual-';
const pending = { status: 'pending', amountReceived: 0, currency: '' } as const;

/** Cash and bank transfers: a member of staff says when the money has come, or gone back. */
export const manualProvider: PaymentProvider = {
  name: 'manual',
  asks: false,
  hold: 'long',
  create: ({ idempotencyKey }) => Promise.resolve({ ...pending, reference: `${prefix}${idempotencyKey}` }),
  retrieve: (reference) => Promise.resolve({ ...pending, reference }),
  cancel: (reference) => Promise.resolve({ ...pending, reference, status: 'canceled' }),
  refund: (_reference, { idempotencyKey }) => Promise.resolve({ reference: `${prefix}${idempotencyKey}`, status: 'pending' }),
  retrieveRefund: (reference) => Promise.resolve({ reference, status: 'pending' }),
};
