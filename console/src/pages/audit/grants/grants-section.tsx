import { NativeSelect } from '@mantine/core';
import { useMemo, type ReactNode } from 'react';
import { useSearchParams } from 'react-router';
import { Card } from '../../../components/page-sections/card.tsx';
import { PermissionList } from '../../../components/page-sections/permission-list.tsx';
import { DataTable } from '../../../components/lists/data-table.tsx';
import { EmailAddress } from '../../../components/email-address.tsx';
import { EmptyState } from '../../../components/feedback/empty-state.tsx';
import { ErrorNotice } from '../../../components/feedback/error-notice.tsx';
import type { Column } from '../../../components/lists/resource-list.tsx';
import { StatusBadge } from '../../../components/feedback/status-badge.tsx';
import { useFormat, type Format } from '../../../languages/use-format.ts';
import { PageSkeleton } from '../../../layout/page-skeleton.tsx';
import { useAuditTranslations, type AuditTranslate } from '../use-audit-translations.ts';
import { useUserAndApplicationNameLookups, type UserAndApplicationNames } from '../use-user-and-application-name-lookups.ts';
import { CustomerApplicationGrantGraph, maxGrantGraphRows } from './grant-graph.tsx';
import { useGrantsFromAuditLog, type Grant } from './use-grants-from-audit-log.ts';
import classes from './grants-section.module.css';

/** Shows which customers have given access to which applications, as a graph and a table. */
export function GrantsSection(): ReactNode {
  const t = useAuditTranslations();
  const { data, error, refetch } = useGrantsFromAuditLog();
  if (error) return <ErrorNotice error={error} onRetry={() => void refetch()} />;
  if (!data) return <PageSkeleton />;
  if (data.grants.length === 0) return <EmptyState title={t('grants.none')} text={t('grants.noneAbout')} />;
  return <Grants grants={data.grants} isComplete={data.isComplete} />;
}

/** Maximum number of rows; more rows would make the page slow. */
const maxRows = 200;

function Grants({ grants, isComplete }: { readonly grants: readonly Grant[]; readonly isComplete: boolean }): ReactNode {
  const t = useAuditTranslations();
  const format = useFormat();
  const [parameters] = useSearchParams();
  const clientId = parameters.get('client_id');
  const shown = grants.filter((grant) => clientId === null || grant.clientId === clientId).slice(0, maxRows);
  const current = shown.filter(({ removedAt }) => removedAt === undefined);
  const names = useUserAndApplicationNameLookups(useMemo(() => shown.map(({ userId }) => userId), [grants, clientId]));
  return (
    <div className={classes['sections']}>
      <p className={classes['about']}>{t(isComplete ? 'grants.about' : 'grants.aboutNewest')}</p>
      <ApplicationFilter grants={grants} names={names} />
      {current.length > 0 && (
        <Card title={t('grants.graph')}>
          <CustomerApplicationGrantGraph grants={current} names={names} />
          {countNodes(current) > maxGrantGraphRows && (
            <p className={classes['about']}>{t('grants.graphNewest', { count: maxGrantGraphRows })}</p>
          )}
        </Card>
      )}
      <DataTable
        label={t('section.grants')}
        columns={createColumns(t, format, names)}
        rows={shown}
        rowKey={({ userId, clientId: application }) => `${userId} ${application}`}
      />
    </div>
  );
}

const countNodes = (grants: readonly Grant[]): number =>
  Math.max(new Set(grants.map(({ userId }) => userId)).size, new Set(grants.map(({ clientId }) => clientId)).size);

function ApplicationFilter({ grants, names }: { readonly grants: readonly Grant[]; readonly names: UserAndApplicationNames }): ReactNode {
  const t = useAuditTranslations();
  const [parameters, setParameters] = useSearchParams();
  const clientIds = [...new Set(grants.map(({ clientId }) => clientId))];
  const labelOf = (id: string): string =>
    names.distinguishingClientId(id) === undefined ? names.application(id) : `${names.application(id)} (${id})`;
  return (
    <NativeSelect
      className={classes['filter'] ?? ''}
      aria-label={t('filter.application')}
      value={parameters.get('client_id') ?? ''}
      data={[{ value: '', label: t('filter.allApplications') }, ...clientIds.map((id) => ({ value: id, label: labelOf(id) }))]}
      onChange={({ currentTarget: { value } }) => setParameters(value === '' ? {} : { client_id: value })}
    />
  );
}

type NameProps = { readonly name: string; readonly detail: ReactNode };

/** A name, with an e-mail address or a client ID below it if another row has the same name. */
function NameWithDetail({ name, detail }: NameProps): ReactNode {
  return (
    <>
      {name}
      {detail !== undefined && <span className={classes['detail']}>{detail}</span>}
    </>
  );
}

const createColumns = (t: AuditTranslate, format: Format, names: UserAndApplicationNames): Column<Grant>[] => [
  {
    id: 'customer',
    header: t('column.customer'),
    wraps: true,
    cell: ({ userId }) => {
      const email = names.distinguishingEmail(userId);
      return <NameWithDetail name={names.user(userId)} detail={email && <EmailAddress email={email} />} />;
    },
    narrowDetail: ({ grantedAt }) => format.date(grantedAt),
  },
  {
    id: 'application',
    header: t('column.application'),
    wraps: true,
    cell: ({ clientId }) => <NameWithDetail name={names.application(clientId)} detail={names.distinguishingClientId(clientId)} />,
    narrowDetail: ({ scopes }) => <PermissionList scopes={scopes} />,
  },
  { id: 'scopes', header: t('detail.scopes'), cell: ({ scopes }) => <PermissionList scopes={scopes} />, isSecondary: true },
  { id: 'granted', header: t('grants.granted'), cell: ({ grantedAt }) => format.date(grantedAt), isSecondary: true },
  {
    id: 'removed',
    header: t('grants.removedOn'),
    cell: ({ removedAt }) => (removedAt === undefined ? '–' : format.date(removedAt)),
    isSecondary: true,
  },
  {
    id: 'status',
    header: t('grants.status'),
    cell: ({ removedAt }) => (
      <StatusBadge tone={removedAt === undefined ? 'positive' : 'neutral'}>
        {t(removedAt === undefined ? 'grants.active' : 'grants.removed')}
      </StatusBadge>
    ),
  },
];
