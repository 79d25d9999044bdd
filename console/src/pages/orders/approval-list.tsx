import type { ApprovalSummary, ApprovalsListAllQuery } from '@mandate/client-sdk';
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { Link, useSearchParams } from 'react-router';
import { queries } from '../../api/client.ts';
import { usePermissions } from '../../api/permissions.tsx';
import { useUserNames } from '../../api/use-user-names.ts';
import { EmptyState } from '../../components/feedback/empty-state.tsx';
import { ListToolbar } from '../../components/lists/list-toolbar.tsx';
import { PageHeader } from '../../components/page-sections/page-header.tsx';
import { pageSize, ResourceList, type Column } from '../../components/lists/resource-list.tsx';
import { StatusBadge, type StatusTone } from '../../components/feedback/status-badge.tsx';
import { useFormat, type Format } from '../../languages/use-format.ts';
import { useCommonTranslations } from '../../languages/use-translations.tsx';
import { useOrdersTranslations, type OrdersTranslate } from './use-orders-translations.ts';

/** Staff receive no events about approvals, so the list is refetched at intervals. */
const refetchIntervalMs = 15_000;

const tones: Readonly<Record<ApprovalSummary['status'], StatusTone>> = {
  pending: 'warning',
  approved: 'positive',
  used: 'positive',
  declined: 'critical',
  canceled: 'neutral',
  expired: 'neutral',
};
const statuses = Object.keys(tones).filter((name): name is ApprovalSummary['status'] => Object.hasOwn(tones, name));

/** The approvals that applications have requested from customers. Only customers can approve or decline a request. */
export function ApprovalList(): ReactNode {
  const t = useOrdersTranslations();
  const common = useCommonTranslations();
  const format = useFormat();
  const filters = useFilters();
  const names = useUserNames(usePageUserIds());
  const canOpenCustomers = usePermissions().can('users.list');
  const tabs = (['all', ...statuses] as const).map((value) => ({ value, name: t(`approvalStatus.${value}`) }));
  return (
    <>
      <PageHeader title={t('approvals')} about={t('approvals.about')} parent={{ to: '/orders', name: common('page.orders') }} />
      <ListToolbar list="approvals" tabs={tabs} />
      <ResourceList
        label={t('approvals')}
        columns={createColumns(t, format, names, canOpenCustomers)}
        query={(page) => ({ ...queries.approvals.listAll({ ...filters, ...page }), refetchInterval: refetchIntervalMs })}
        rowKey={({ id }) => id}
        empty={<EmptyState title={t('approvals.none')} text={t('approvals.noneAbout')} />}
      />
    </>
  );
}

function useFilters(): ApprovalsListAllQuery {
  const [parameters] = useSearchParams();
  const status = statuses.find((name) => name === parameters.get('tab'));
  const userId = parameters.get('user_id') ?? '';
  return { ...(status && { status: [status] }), ...(/^\d+$/.test(userId) && { user_id: Number(userId) }) };
}

/** Returns the customers on the current page of the list. The query has the same key as the list's query, so only one request is sent. */
function usePageUserIds(): readonly number[] {
  const filters = useFilters();
  const cursor = useSearchParams()[0].get('cursor') ?? undefined;
  const { data } = useQuery(queries.approvals.listAll({ ...filters, limit: pageSize, ...(cursor !== undefined && { cursor }) }));
  return data?.data.map(({ user_id: userId }) => userId) ?? [];
}

const createColumns = (
  t: OrdersTranslate,
  format: Format,
  names: ReadonlyMap<number, string>,
  canOpenCustomers: boolean,
): Column<ApprovalSummary>[] => [
  {
    id: 'application',
    header: t('column.application'),
    cell: ({ application_name: name }) => name,
    narrowDetail: ({ created_at: at }) => format.relative(at),
  },
  {
    id: 'customer',
    header: t('column.customer'),
    cell: ({ user_id: id }) => {
      const name = names.get(id) ?? t('approvals.customerId', { id: String(id) });
      return canOpenCustomers ? <Link to={`/customers/${id}`}>{name}</Link> : name;
    },
  },
  { id: 'message', header: t('approvals.message'), cell: ({ message }) => message ?? '–', isSecondary: true },
  {
    id: 'reason',
    header: t('approvals.reason'),
    cell: ({ reason }) => (reason ? t.value('approvalReason', reason.code) : '–'),
    isSecondary: true,
  },
  {
    id: 'status',
    header: t('approvals.status'),
    cell: ({ status, order_id: orderId }) => (
      <>
        <StatusBadge tone={tones[status]}>{t.value('approvalStatus', status)}</StatusBadge>{' '}
        {orderId !== null && <Link to={`/orders/${orderId}`}>{t('order', { id: String(orderId) })}</Link>}
      </>
    ),
  },
  { id: 'requested', header: t('approvals.requested'), cell: ({ created_at: at }) => format.relative(at), isSecondary: true },
  { id: 'expires', header: t('approvals.expires'), cell: ({ expires_at: at }) => format.dateTime(at), isSecondary: true },
  { id: 'total', header: t('column.total'), cell: ({ total, currency }) => format.money(total, currency), align: 'end' },
];
