import type { Application, ApplicationStatistics } from '@mandate/client-sdk';
import { Button } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useMemo, type ReactNode } from 'react';
import { Link } from 'react-router';
import { queries } from '../../../api/client.ts';
import { IfPermitted, usePermissions } from '../../../api/permissions.tsx';
import { EmptyState } from '../../../components/feedback/empty-state.tsx';
import { OperatedByShopBadge } from '../../../components/feedback/operated-by-shop-badge.tsx';
import { PageHeader } from '../../../components/page-sections/page-header.tsx';
import { ResourceList, type Column } from '../../../components/lists/resource-list.tsx';
import { useFormat, type Format } from '../../../languages/use-format.ts';
import { useCommonTranslations } from '../../../languages/use-translations.tsx';
import { findBestFittingApplicationKind } from '../application-kinds.ts';
import { ApplicationStatusBadge } from '../application-status-badge.tsx';
import { useApplicationsTranslations, type ApplicationsTranslate } from '../use-applications-translations.ts';

type Activity = ApplicationStatistics['applications'][number];

export function ApplicationList(): ReactNode {
  const t = useApplicationsTranslations();
  const common = useCommonTranslations();
  const format = useFormat();
  const activities = useActivities();
  const columns = useMemo(() => createColumns(t, format, activities), [t, format, activities]);
  const register = (
    <IfPermitted operation="applications.create">
      <Button component={Link} to="/applications/new">
        {t('register.action')}
      </Button>
    </IfPermitted>
  );
  return (
    <>
      <PageHeader title={common('page.applications')} actions={register} />
      <ResourceList
        label={common('page.applications')}
        columns={columns}
        query={(page) => queries.applications.list(page)}
        rowKey={({ id }) => id}
        rowPath={({ id }) => `/applications/${id}`}
        empty={<EmptyState title={t('list.empty')} text={t('list.emptyAbout')} />}
      />
    </>
  );
}

/** Returns this month's request and error counts by client ID, or `undefined` if the user is not permitted to see statistics. */
function useActivities(): ReadonlyMap<string, Activity> | undefined {
  const isPermitted = usePermissions().can('stats.applications');
  const { data } = useQuery({ ...queries.stats.applications({ limit: 100 }), enabled: isPermitted });
  return useMemo(() => data && new Map(data.applications.map((activity) => [activity.client_id, activity])), [data]);
}

const createColumns = (
  t: ApplicationsTranslate,
  format: Format,
  activities: ReadonlyMap<string, Activity> | undefined,
): Column<Application>[] => [
  {
    id: 'name',
    header: t('field.name'),
    wraps: true,
    cell: (application) => (
      <>
        {application.name} <OperatedByShopBadge application={application} />
      </>
    ),
    narrowDetail: ({ client_id }) => client_id,
  },
  { id: 'client', header: t('field.client_id'), cell: ({ client_id }) => <code>{client_id}</code>, isSecondary: true },
  {
    id: 'kind',
    header: t('field.kind'),
    cell: (application) => t(`kind.${findBestFittingApplicationKind(application)}`),
    wraps: true,
    isSecondary: true,
  },
  { id: 'status', header: t('field.status'), cell: (application) => <ApplicationStatusBadge {...application} /> },
  ...(activities
    ? ([
        {
          id: 'requests',
          header: t('usage.requestsThisMonth'),
          cell: ({ client_id }) => format.number(activities.get(client_id)?.requests ?? 0),
          align: 'end',
        },
        {
          id: 'errors',
          header: t('usage.errors'),
          cell: ({ client_id }) => format.number(activities.get(client_id)?.errors ?? 0),
          align: 'end',
          isSecondary: true,
        },
      ] satisfies Column<Application>[])
    : []),
];
