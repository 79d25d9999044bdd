import type { User } from '@mandate/client-sdk';
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { useParams } from 'react-router';
import { shouldErrorReplaceData } from '../../../api/should-error-replace-data.ts';
import { queries } from '../../../api/client.ts';
import { IfPermitted } from '../../../api/permissions.tsx';
import { Card } from '../../../components/page-sections/card.tsx';
import { ErrorNotice } from '../../../components/feedback/error-notice.tsx';
import { PageHeader } from '../../../components/page-sections/page-header.tsx';
import { PropertyList } from '../../../components/page-sections/property-list.tsx';
import { TwoColumnLayout } from '../../../components/page-sections/two-column-layout.tsx';
import { languageNames } from '../../../languages/language-store.ts';
import { useFormat } from '../../../languages/use-format.ts';
import { useCommonTranslations } from '../../../languages/use-translations.tsx';
import { PageSkeleton } from '../../../layout/page-skeleton.tsx';
import { CustomerStatusBadge } from '../customer-status-badge.tsx';
import { useCustomersTranslations } from '../use-customers-translations.ts';
import { AccountHistory } from './account-history.tsx';
import { ConnectedApps } from './connected-apps.tsx';
import { CustomerActions } from './customer-actions.tsx';
import { CustomerApiKeys } from './customer-api-keys.tsx';
import { CustomerOrders } from './customer-orders.tsx';
import { CustomerSessions } from './customer-sessions.tsx';

export function CustomerDetail(): ReactNode {
  const t = useCustomersTranslations();
  const common = useCommonTranslations();
  const { userId = '' } = useParams();
  const { data: user, error, refetch } = useQuery(queries.users.get(userId));
  if (shouldErrorReplaceData(error, user)) return <ErrorNotice error={error} onRetry={() => void refetch()} />;
  if (!user) return <PageSkeleton />;
  const isClosed = user.status === 'closed';
  // Reading the applications, sessions and keys of staff requires a scope that the console does not request.
  const hasReadableAccess = user.role === 'customer' && !isClosed;
  return (
    <>
      <PageHeader
        title={isClosed ? t('closedAccount') : user.name}
        status={<CustomerStatusBadge {...user} />}
        {...(!isClosed && { about: user.email })}
        parent={{ to: '/customers', name: common('page.customers') }}
        actions={<CustomerActions user={user} />}
      />
      <TwoColumnLayout
        main={
          <>
            <IfPermitted operation="orders.list">
              <CustomerOrders userId={user.id} />
            </IfPermitted>
            {hasReadableAccess && (
              <IfPermitted operation="connectedApps.listOfUser">
                <ConnectedApps userId={user.id} />
              </IfPermitted>
            )}
          </>
        }
        side={
          <>
            <Account user={user} />
            {hasReadableAccess && (
              <IfPermitted operation="sessions.listOfUser">
                <CustomerSessions userId={user.id} />
              </IfPermitted>
            )}
            {hasReadableAccess && (
              <IfPermitted operation="apiKeys.listOfUser">
                <CustomerApiKeys userId={user.id} />
              </IfPermitted>
            )}
            <IfPermitted operation="auditEvents.list">
              <AccountHistory userId={user.id} />
            </IfPermitted>
          </>
        }
      />
    </>
  );
}

function Account({ user }: { readonly user: User }): ReactNode {
  const t = useCustomersTranslations();
  const format = useFormat();
  const languages: Readonly<Record<string, string>> = languageNames;
  const isClosed = user.status === 'closed';
  return (
    <Card title={t('account')}>
      <PropertyList
        properties={[
          { name: t('field.id'), value: user.id },
          { name: t('field.email_verified'), value: isClosed ? null : t(user.email_verified ? 'email.verified' : 'email.unverified') },
          { name: t('field.role'), value: t.value('role', user.role) },
          { name: t('field.locale'), value: user.locale === null ? t('locale.browser') : (languages[user.locale] ?? user.locale) },
          { name: t('field.created_at'), value: format.dateTime(user.created_at) },
          { name: t('field.updated_at'), value: format.dateTime(user.updated_at) },
        ]}
      />
    </Card>
  );
}
