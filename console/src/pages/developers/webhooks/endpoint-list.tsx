import type { WebhookEndpoint } from '@mandate/client-sdk';
import { Button } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useMemo, type ReactNode } from 'react';
import { queries } from '../../../api/client.ts';
import { IfPermitted } from '../../../api/permissions.tsx';
import { Dialog } from '../../../components/dialogs/dialog.tsx';
import { EmptyState } from '../../../components/feedback/empty-state.tsx';
import { ResourceList, type Column } from '../../../components/lists/resource-list.tsx';
import { useFormat, type Format } from '../../../languages/use-format.ts';
import { DevelopersHeader } from '../developers-header.tsx';
import { useDevelopersTranslations, type DevelopersTranslate } from '../use-developers-translations.ts';
import { CreateEndpointForm } from './create-endpoint-form.tsx';
import { WebhookEndpointStatusBadge } from './endpoint-and-delivery-status-badges.tsx';

export function EndpointList(): ReactNode {
  const t = useDevelopersTranslations();
  const format = useFormat();
  const [isCreating, creating] = useDisclosure(false);
  const columns = useMemo(() => createColumns(t, format), [t, format]);
  const add = (
    <IfPermitted operation="webhooks.create">
      <Button onClick={creating.open}>{t('endpoint.add')}</Button>
    </IfPermitted>
  );
  return (
    <>
      <DevelopersHeader actions={add} />
      <ResourceList
        label={t('section.webhooks')}
        columns={columns}
        query={(page) => queries.webhooks.list(page)}
        rowKey={({ id }) => id}
        rowPath={({ id }) => `/developers/webhooks/${id}`}
        empty={<EmptyState title={t('endpoint.none')} text={t('endpoint.noneAbout')} />}
      />
      <Dialog title={t('endpoint.add')} isOpen={isCreating} onClose={creating.close}>
        <CreateEndpointForm onClose={creating.close} />
      </Dialog>
    </>
  );
}

const createColumns = (t: DevelopersTranslate, format: Format): Column<WebhookEndpoint>[] => [
  { id: 'url', header: t('endpoint.url'), cell: ({ url }) => url },
  { id: 'events', header: t('endpoint.events'), cell: ({ events }) => describeEvents(events, t), isSecondary: true },
  { id: 'description', header: t('endpoint.description'), cell: ({ description }) => description ?? '–', isSecondary: true },
  { id: 'created', header: t('created'), cell: ({ created_at }) => format.date(created_at), isSecondary: true },
  { id: 'status', header: t('status'), cell: (endpoint) => <WebhookEndpointStatusBadge endpoint={endpoint} /> },
];

function describeEvents(events: readonly string[], t: DevelopersTranslate): string {
  if (events.includes('*')) return t('endpoint.allEvents');
  return events.length > 2 ? t('endpoint.eventCount', { count: events.length }) : events.join(', ');
}
