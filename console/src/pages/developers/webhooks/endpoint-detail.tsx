import type { WebhookEndpoint } from '@mandate/client-sdk';
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { useParams } from 'react-router';
import { shouldErrorReplaceData } from '../../../api/should-error-replace-data.ts';
import { queries } from '../../../api/client.ts';
import { useApplicationNameLookup } from '../../../api/use-application-names.ts';
import { Card } from '../../../components/page-sections/card.tsx';
import { ErrorNotice } from '../../../components/feedback/error-notice.tsx';
import { Notice } from '../../../components/feedback/notice.tsx';
import { PageHeader } from '../../../components/page-sections/page-header.tsx';
import { PermissionList } from '../../../components/page-sections/permission-list.tsx';
import { PropertyList } from '../../../components/page-sections/property-list.tsx';
import { useFormat } from '../../../languages/use-format.ts';
import { PageSkeleton } from '../../../layout/page-skeleton.tsx';
import { useDevelopersTranslations } from '../use-developers-translations.ts';
import { DeliveryList } from './delivery-list.tsx';
import { EndpointActions } from './endpoint-actions.tsx';
import { WebhookEndpointStatusBadge } from './endpoint-and-delivery-status-badges.tsx';
import classes from './endpoint-detail.module.css';

export function EndpointDetail(): ReactNode {
  const t = useDevelopersTranslations();
  const { endpointId = '' } = useParams();
  const { data: endpoint, error, refetch } = useQuery(queries.webhooks.get(endpointId));
  if (shouldErrorReplaceData(error, endpoint)) return <ErrorNotice error={error} onRetry={() => void refetch()} />;
  if (!endpoint) return <PageSkeleton />;
  return (
    <>
      <PageHeader
        title={endpoint.url}
        status={<WebhookEndpointStatusBadge endpoint={endpoint} />}
        parent={{ to: '/developers/webhooks', name: t('section.webhooks') }}
        actions={<EndpointActions endpoint={endpoint} />}
      />
      <div className={classes['sections']}>
        {endpoint.disabled_reason !== null && <Notice text={t.value('disabledReason', endpoint.disabled_reason)} />}
        <EndpointFacts endpoint={endpoint} />
        <section aria-label={t('deliveries')}>
          <h2 className={classes['title']}>{t('deliveries')}</h2>
          <DeliveryList endpointId={endpoint.id} />
        </section>
      </div>
    </>
  );
}

function EndpointFacts({ endpoint }: { readonly endpoint: WebhookEndpoint }): ReactNode {
  const t = useDevelopersTranslations();
  const format = useFormat();
  const applicationName = useApplicationNameLookup();
  return (
    <Card title={t('endpoint')}>
      <PropertyList
        properties={[
          { name: t('endpoint.description'), value: endpoint.description },
          {
            name: t('endpoint.events'),
            value: <Codes names={endpoint.events.map((name) => (name === '*' ? t('endpoint.allEvents') : name))} />,
          },
          { name: t('endpoint.scopes'), value: <PermissionList scopes={endpoint.scopes} /> },
          { name: t('endpoint.application'), value: applicationName(endpoint.client_id) },
          { name: t('created'), value: format.dateTime(endpoint.created_at) },
          { name: t('endpoint.failingSince'), value: endpoint.failing_since === null ? null : format.dateTime(endpoint.failing_since) },
        ]}
      />
    </Card>
  );
}

const Codes = ({ names }: { readonly names: readonly string[] }): ReactNode => (
  <span className={classes['codes']}>
    {names.map((name) => (
      <code key={name}>{name}</code>
    ))}
  </span>
);
