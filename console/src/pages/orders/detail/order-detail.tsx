import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { useParams } from 'react-router';
import { queries } from '../../../api/client.ts';
import { ErrorNotice } from '../../../components/error-notice.tsx';
import { PageHeader } from '../../../components/page-header.tsx';
import { useCommonMessages } from '../../../languages/use-messages.tsx';
import { PageSkeleton } from '../../../layout/page-skeleton.tsx';
import { FulfillmentStatus, PaymentStatus } from '../order-statuses.tsx';
import { useOrdersMessages } from '../use-orders-messages.ts';

export function OrderDetail(): ReactNode {
  const t = useOrdersMessages();
  const common = useCommonMessages();
  const { orderId = '' } = useParams();
  const { data: order, error, refetch } = useQuery(queries.orders.get(orderId));
  if (error) return <ErrorNotice error={error} onRetry={() => void refetch()} />;
  if (!order) return <PageSkeleton />;
  const statuses = (
    <>
      <PaymentStatus order={order} />
      <FulfillmentStatus order={order} />
    </>
  );
  return <PageHeader title={t('order', { id: order.id })} status={statuses} parent={{ to: '/orders', name: common('page.orders') }} />;
}
