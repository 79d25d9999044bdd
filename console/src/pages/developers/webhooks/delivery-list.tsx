import type { WebhookDelivery } from '@mandate/client-sdk';
import { useMemo, type ReactNode } from 'react';
import { useSearchParams } from 'react-router';
import { queries } from '../../../api/client.ts';
import { EmptyState } from '../../../components/feedback/empty-state.tsx';
import { ListToolbar } from '../../../components/lists/list-toolbar.tsx';
import { ResourceList, type Column } from '../../../components/lists/resource-list.tsx';
import { useFormat, type Format } from '../../../languages/use-format.ts';
import { useDevelopersTranslations, type DevelopersTranslate } from '../use-developers-translations.ts';
import { DeliveryDialog } from './delivery-dialog.tsx';
import { describeDeliveryAttempt } from './describe-delivery-attempt.ts';
import { WebhookDeliveryStatusBadge } from './endpoint-and-delivery-status-badges.tsx';

const statuses = ['pending', 'succeeded', 'failed', 'skipped'] as const satisfies readonly WebhookDelivery['status'][];

/** The server sends no events about attempts, so the list is refetched at intervals. */
const refetchIntervalMs = 5_000;

export function DeliveryList({ endpointId }: { readonly endpointId: number }): ReactNode {
  const t = useDevelopersTranslations();
  const format = useFormat();
  const [parameters] = useSearchParams();
  const status = statuses.find((name) => name === parameters.get('tab'));
  const columns = useMemo(() => createColumns(t, format), [t, format]);
  const tabs = ['all', ...statuses].map((value) => ({ value, name: t.value('delivery', value) }));
  const pathOf = ({ id }: WebhookDelivery): string => {
    const search = new URLSearchParams(parameters);
    search.set('delivery', String(id));
    return `?${search.toString()}`;
  };
  return (
    <>
      <ListToolbar list="deliveries" tabs={tabs} />
      <ResourceList
        label={t('deliveries')}
        columns={columns}
        query={(page) => ({
          ...queries.webhooks.deliveries(endpointId, { ...(status && { status: [status] }), ...page }),
          refetchInterval: refetchIntervalMs,
        })}
        rowKey={({ id }) => id}
        rowPath={pathOf}
        empty={<EmptyState title={t('delivery.none')} text={t('delivery.noneAbout')} />}
      />
      <DeliveryDialog endpointId={endpointId} />
    </>
  );
}

const createColumns = (t: DevelopersTranslate, format: Format): Column<WebhookDelivery>[] => [
  { id: 'event', header: t('event.type'), cell: ({ event_type }) => event_type },
  { id: 'status', header: t('status'), cell: ({ status }) => <WebhookDeliveryStatusBadge status={status} /> },
  { id: 'response', header: t('attempt.response'), cell: ({ attempts }) => describeDeliveryAttempt(attempts.at(-1), t), isSecondary: true },
  { id: 'attempts', header: t('attempts'), cell: ({ attempts }) => attempts.length, align: 'end', isSecondary: true },
  { id: 'created', header: t('created'), cell: ({ created_at }) => format.relative(created_at), align: 'end' },
];
