import type { OrderSummary } from '@mandate/client-sdk';
import { useMemo, type ReactNode } from 'react';
import { Link } from 'react-router';
import { queries } from '../../../api/client.ts';
import { Card } from '../../../components/page-sections/card.tsx';
import { EmptyState } from '../../../components/feedback/empty-state.tsx';
import { ResourceList, type Column } from '../../../components/lists/resource-list.tsx';
import { StatusBadge, type StatusTone } from '../../../components/feedback/status-badge.tsx';
import { useFormat, type Format } from '../../../languages/use-format.ts';
import { useCustomersTranslations, type CustomersTranslate } from '../use-customers-translations.ts';

const tones: Readonly<Record<string, StatusTone>> = { pending: 'warning', canceled: 'critical', delivered: 'positive' };

/** A customer's orders, each with the application that placed it. */
export function CustomerOrders({ userId }: { readonly userId: number }): ReactNode {
  const t = useCustomersTranslations();
  const format = useFormat();
  const columns = useMemo(() => createColumns(t, format), [t, format]);
  return (
    <Card title={t('orders')} actions={<Link to={`/orders?user_id=${userId}`}>{t('orders.all')}</Link>}>
      <ResourceList
        label={t('orders')}
        columns={columns}
        query={(page) => queries.orders.list({ user_id: userId, include: ['client'], ...page, limit: 10 })}
        rowKey={({ id }) => id}
        rowPath={({ id }) => `/orders/${id}`}
        empty={<EmptyState text={t('orders.empty')} />}
      />
    </Card>
  );
}

const OrderStatus = ({ status, t }: Pick<OrderSummary, 'status'> & { readonly t: CustomersTranslate }): ReactNode => (
  <StatusBadge tone={tones[status] ?? 'info'}>{t.value('order', status)}</StatusBadge>
);

const createColumns = (t: CustomersTranslate, format: Format): Column<OrderSummary>[] => [
  { id: 'order', header: t('orders.order'), cell: ({ id }) => `#${id}` },
  {
    id: 'placed',
    header: t('orders.placed'),
    cell: ({ created_at }) => format.relative(created_at),
    narrowDetail: (order) => <OrderStatus {...order} t={t} />,
  },
  {
    id: 'application',
    header: t('orders.application'),
    cell: ({ client }) => client?.name ?? client?.client_id ?? '–',
    isSecondary: true,
  },
  {
    id: 'status',
    header: t('field.status'),
    cell: (order) => <OrderStatus {...order} t={t} />,
    isSecondary: true,
  },
  { id: 'total', header: t('orders.total'), cell: ({ total, currency }) => format.money(total, currency), align: 'end' },
];
