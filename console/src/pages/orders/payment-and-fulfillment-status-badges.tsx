import type { OrderSummary } from '@mandate/client-sdk';
import type { ReactNode } from 'react';
import { StatusBadge, type StatusTone } from '../../components/feedback/status-badge.tsx';
import { useOrdersTranslations } from './use-orders-translations.ts';

const paymentTones: Readonly<Record<string, StatusTone>> = { unpaid: 'warning', paid: 'positive', canceled: 'critical' };
const fulfillmentTones: Readonly<Record<string, StatusTone>> = {
  unfulfilled: 'neutral',
  partial: 'info',
  shipped: 'info',
  delivered: 'positive',
};

type Statuses = Pick<OrderSummary, 'status' | 'payment_status' | 'fulfillment_status'>;

export function PaymentStatusBadge({ order }: { readonly order: Statuses }): ReactNode {
  const t = useOrdersTranslations();
  const status = order.status === 'canceled' && order.payment_status === 'unpaid' ? 'canceled' : order.payment_status;
  return <StatusBadge tone={paymentTones[status] ?? 'neutral'}>{t.value('payment', status)}</StatusBadge>;
}

/** Fulfillment status. Renders nothing for a canceled order, because no part of a canceled order has been shipped. */
export function FulfillmentStatusBadge({ order }: { readonly order: Statuses }): ReactNode {
  const t = useOrdersTranslations();
  if (order.status === 'canceled') return null;
  const status = order.fulfillment_status;
  return <StatusBadge tone={fulfillmentTones[status] ?? 'neutral'}>{t.value('fulfillment', status)}</StatusBadge>;
}
