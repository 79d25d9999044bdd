import { ApiError } from '@mandate/client-sdk';
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { useParams } from 'react-router';
import { ErrorNotice } from '../../../components/feedback/error-notice.tsx';
import { PageHeader } from '../../../components/page-sections/page-header.tsx';
import { useCommonTranslations } from '../../../languages/use-translations.tsx';
import { NotFoundPage } from '../../../layout/not-found-page.tsx';
import { PageSkeleton } from '../../../layout/page-skeleton.tsx';
import { FulfillmentStatusBadge, PaymentStatusBadge } from '../payment-and-fulfillment-status-badges.tsx';
import { useOrdersTranslations } from '../use-orders-translations.ts';
import { OrderNoteAndReferenceCard } from './order-note-and-reference-card.tsx';
import { OrderActions } from './order-actions.tsx';
import { OrderCustomerAndDeliveryCard, OrderPlacementAndLimitText } from './order-placement-customer-and-delivery.tsx';
import { OrderLinesCard } from './order-lines.tsx';
import { OrderPaymentsAndRefundsCard } from './order-payments-and-refunds-card.tsx';
import { OrderShipmentsCard } from './order-shipments.tsx';
import { OrderTimelineCard } from './order-timeline.tsx';
import {
  createOrderWithEtagQuery,
  createOrderSummaryQuery,
  useReadableOrderParts,
  type OrderWithEtag,
} from './order-queries-and-possible-actions.ts';
import classes from './order-detail.module.css';

export function OrderDetail(): ReactNode {
  const { orderId = '' } = useParams();
  const isValid = /^\d{1,15}$/.test(orderId);
  const { data, error, refetch } = useQuery({ ...createOrderWithEtagQuery(orderId), enabled: isValid });
  // The page also waits for the names, so that it does not show IDs first.
  const names = useQuery({ ...createOrderSummaryQuery(Number(orderId)), enabled: isValid });
  if (!isValid || (error instanceof ApiError && error.code === 'not_found')) return <NotFoundPage />;
  if (error && !data) return <ErrorNotice error={error} onRetry={() => void refetch()} />;
  return data && !names.isPending ? <LoadedOrder {...data} /> : <PageSkeleton />;
}

function LoadedOrder({ order, etag }: OrderWithEtag): ReactNode {
  const t = useOrdersTranslations();
  const common = useCommonTranslations();
  const parts = useReadableOrderParts(order.id);
  const statuses = (
    <>
      <PaymentStatusBadge order={order} />
      <FulfillmentStatusBadge order={order} />
    </>
  );
  return (
    <>
      <PageHeader
        title={t('order', { id: order.id })}
        status={statuses}
        about={<OrderPlacementAndLimitText order={order} summary={parts.summary} />}
        parent={{ to: '/orders', name: common('page.orders') }}
        actions={<OrderActions order={order} parts={parts} />}
      />
      <div className={classes['columns']}>
        <div className={classes['main']}>
          <OrderLinesCard order={order} />
          {parts.payments && <OrderPaymentsAndRefundsCard order={order} payments={parts.payments} refunds={parts.refunds ?? []} />}
          {parts.shipments && <OrderShipmentsCard shipments={parts.shipments} order={order} />}
          <OrderTimelineCard order={order} parts={parts} />
        </div>
        <div className={classes['side']}>
          <OrderCustomerAndDeliveryCard order={order} summary={parts.summary} />
          <OrderNoteAndReferenceCard order={order} etag={etag} />
        </div>
      </div>
    </>
  );
}
