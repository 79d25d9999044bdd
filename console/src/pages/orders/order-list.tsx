import type { OrdersListQuery, OrderSummary } from '@mandate/client-sdk';
import { Button } from '@mantine/core';
import { useMemo, type ReactNode } from 'react';
import { Link, useSearchParams } from 'react-router';
import { queries } from '../../api/client.ts';
import { IfPermitted } from '../../api/permissions.tsx';
import { useApplicationNameLookup } from '../../api/use-application-names.ts';
import { useUserNames } from '../../api/use-user-names.ts';
import { EmptyState } from '../../components/feedback/empty-state.tsx';
import { ActiveFilter } from '../../components/lists/active-filter.tsx';
import { ListToolbar } from '../../components/lists/list-toolbar.tsx';
import { PageHeader } from '../../components/page-sections/page-header.tsx';
import { ResourceList, type Column } from '../../components/lists/resource-list.tsx';
import { useFormat, type Format } from '../../languages/use-format.ts';
import { useCommonTranslations } from '../../languages/use-translations.tsx';
import { FulfillmentStatusBadge, PaymentStatusBadge } from './payment-and-fulfillment-status-badges.tsx';
import { useOrdersTranslations, type OrdersTranslate } from './use-orders-translations.ts';

/** Filters by tab. */
const filtersByTab = {
  all: {},
  unpaid: { status: ['pending'], payment_status: ['unpaid'] },
  toShip: { status: ['paid'], fulfillment_status: ['unfulfilled', 'partial'] },
  shipped: { status: ['shipped', 'delivered'] },
  canceled: { status: ['canceled'] },
} as const satisfies Record<string, { readonly [Name in keyof OrdersListQuery]: Readonly<OrdersListQuery[Name]> }>;
type Tab = keyof typeof filtersByTab;

const isTab = (name: string): name is Tab => Object.hasOwn(filtersByTab, name);
const tabs = Object.keys(filtersByTab).filter(isTab);

export function OrderList(): ReactNode {
  const t = useOrdersTranslations();
  const common = useCommonTranslations();
  const format = useFormat();
  const filters = useFilters();
  const columns = useMemo(() => createColumns(t, format), [t, format]);
  return (
    <>
      <PageHeader
        title={common('page.orders')}
        actions={
          <IfPermitted operation="approvals.listAll">
            <Button component={Link} to="/orders/approvals" variant="default">
              {t('approvals')}
            </Button>
          </IfPermitted>
        }
      />
      <ListToolbar list="orders" tabs={tabs.map((value) => ({ value, name: t(`tab.${value}`) }))} searchLabel={t('list.search')}>
        <ActiveFilters />
      </ListToolbar>
      <ResourceList
        label={common('page.orders')}
        columns={columns}
        query={(page) => queries.orders.list({ ...filters, include: ['customer', 'client'], ...page })}
        rowKey={({ id }) => id}
        rowPath={({ id }) => `/orders/${id}`}
        empty={<EmptyState title={t('list.empty')} text={t('list.emptyAbout')} />}
      />
    </>
  );
}

/** Shows the customer or application filter that a link on another page has set. */
function ActiveFilters(): ReactNode {
  const t = useOrdersTranslations();
  const { user_id: userId, client_id: clientId } = useFilters();
  const userNames = useUserNames(userId === undefined ? [] : [userId]);
  const applicationName = useApplicationNameLookup();
  return (
    <>
      {userId !== undefined && (
        <ActiveFilter parameter="user_id" text={t('filter.customer', { name: userNames.get(userId) ?? `#${userId}` })} />
      )}
      {clientId !== undefined && <ActiveFilter parameter="client_id" text={t('filter.application', { name: applicationName(clientId) })} />}
    </>
  );
}

/** Returns the filters in the URL. `user_id` and `client_id` come from links on other pages. */
function useFilters(): OrdersListQuery {
  const [parameters] = useSearchParams();
  const tab = parameters.get('tab') ?? 'all';
  const { status, payment_status, fulfillment_status }: OrdersListQueryTab = filtersByTab[isTab(tab) ? tab : 'all'];
  const [q, clientId, userId] = ['q', 'client_id', 'user_id'].map((name) => parameters.get(name) ?? '');
  return {
    ...(status && { status: [...status] }),
    ...(payment_status && { payment_status: [...payment_status] }),
    ...(fulfillment_status && { fulfillment_status: [...fulfillment_status] }),
    ...(q !== undefined && q !== '' && { q }),
    ...(clientId !== undefined && clientId !== '' && { client_id: clientId }),
    ...(/^\d+$/.test(userId ?? '') && { user_id: Number(userId) }),
  };
}
type OrdersListQueryTab = {
  readonly [Name in 'status' | 'payment_status' | 'fulfillment_status']?: Readonly<NonNullable<OrdersListQuery[Name]>>;
};

const createColumns = (t: OrdersTranslate, format: Format): Column<OrderSummary>[] => [
  {
    id: 'order',
    header: t('column.order'),
    cell: ({ id }) => `#${id}`,
    narrowDetail: ({ created_at }) => format.relative(created_at),
  },
  { id: 'placed', header: t('column.placed'), cell: ({ created_at }) => format.relative(created_at), isSecondary: true },
  { id: 'customer', header: t('column.customer'), cell: ({ customer, delivery }) => customer?.name ?? delivery.recipient_name },
  {
    id: 'application',
    header: t('column.application'),
    cell: ({ client }) => client?.name ?? client?.client_id ?? '–',
    isSecondary: true,
  },
  {
    id: 'payment',
    header: t('column.payment'),
    cell: (order) => <PaymentStatusBadge order={order} />,
    narrowDetail: (order) => <FulfillmentStatusBadge order={order} />,
  },
  { id: 'fulfillment', header: t('column.fulfillment'), cell: (order) => <FulfillmentStatusBadge order={order} />, isSecondary: true },
  { id: 'total', header: t('column.total'), cell: ({ total, currency }) => format.money(total, currency), align: 'end' },
];
