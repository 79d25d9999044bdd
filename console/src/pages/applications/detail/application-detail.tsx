import type { Application } from '@mandate/client-sdk';
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { Link, useParams } from 'react-router';
import { shouldErrorReplaceData } from '../../../api/should-error-replace-data.ts';
import { queries } from '../../../api/client.ts';
import { IfPermitted, usePermissions } from '../../../api/permissions.tsx';
import { Card } from '../../../components/page-sections/card.tsx';
import { ErrorNotice } from '../../../components/feedback/error-notice.tsx';
import { PageHeader } from '../../../components/page-sections/page-header.tsx';
import { PropertyList } from '../../../components/page-sections/property-list.tsx';
import { TwoColumnLayout } from '../../../components/page-sections/two-column-layout.tsx';
import { useFormat } from '../../../languages/use-format.ts';
import { useCommonTranslations } from '../../../languages/use-translations.tsx';
import { PageSkeleton } from '../../../layout/page-skeleton.tsx';
import { usesRedirectUri, findBestFittingApplicationKind } from '../application-kinds.ts';
import { ApplicationStatusBadge } from '../application-status-badge.tsx';
import { CodeExample } from '../code/code-example.tsx';
import { ScopeList } from '../scope-list.tsx';
import { useApplicationsTranslations } from '../use-applications-translations.ts';
import { ApplicationActions } from './application-actions.tsx';
import { PkceAndNonceRequirementText } from './pkce-and-nonce-requirement-text.tsx';
import { EditApplicationButtonAndDialog } from './edit-application-button-and-dialog.tsx';
import { EditApplicationUsageAndOrderLimits, EditApplicationNameAndUris, EditApplicationScopes } from './edit-application.tsx';
import { ApplicationLimitsPropertyList } from './application-limits-property-list.tsx';
import { ApplicationUsageCard } from './application-usage-card.tsx';
import classes from '../applications.module.css';

export function ApplicationDetail(): ReactNode {
  const common = useCommonTranslations();
  const { applicationId = '' } = useParams();
  const { data: application, error, refetch } = useQuery(queries.applications.get(applicationId));
  if (shouldErrorReplaceData(error, application)) return <ErrorNotice error={error} onRetry={() => void refetch()} />;
  if (!application) return <PageSkeleton />;
  return (
    <>
      <PageHeader
        title={application.name}
        status={<ApplicationStatusBadge {...application} />}
        about={<code>{application.client_id}</code>}
        parent={{ to: '/applications', name: common('page.applications') }}
        actions={<ApplicationActions application={application} />}
      />
      <TwoColumnLayout main={<MainSections application={application} />} side={<SideSections application={application} />} />
    </>
  );
}

type Props = { readonly application: Application };

function MainSections({ application }: Props): ReactNode {
  const t = useApplicationsTranslations();
  return (
    <>
      <IfPermitted operation="stats.applications">
        <ApplicationUsageCard application={application} />
      </IfPermitted>
      <Card
        title={t('scopes')}
        actions={
          <EditApplicationButtonAndDialog
            title={t('scopes')}
            form={(close) => <EditApplicationScopes application={application} onClose={close} />}
          />
        }
      >
        <ScopeList scopes={application.scopes} />
      </Card>
      <Card title={t('code.title')}>
        <CodeExample application={application} />
      </Card>
    </>
  );
}

function SideSections({ application }: Props): ReactNode {
  const t = useApplicationsTranslations();
  return (
    <>
      <Card
        title={t('registration')}
        actions={
          <EditApplicationButtonAndDialog
            title={t('registration')}
            form={(close) => <EditApplicationNameAndUris application={application} onClose={close} />}
          />
        }
      >
        <Registration application={application} />
      </Card>
      <Card
        title={t('limits')}
        actions={
          <EditApplicationButtonAndDialog
            title={t('limits')}
            form={(close) => <EditApplicationUsageAndOrderLimits application={application} onClose={close} />}
          />
        }
      >
        <ApplicationLimitsPropertyList application={application} />
      </Card>
      <RelatedLinks application={application} />
    </>
  );
}

function RelatedLinks({ application: { client_id: clientId } }: Props): ReactNode {
  const t = useApplicationsTranslations();
  const { can } = usePermissions();
  const search = new URLSearchParams({ client_id: clientId }).toString();
  const links = [
    ...(can('orders.list') ? [{ to: `/orders?${search}`, text: t('orders.all') }] : []),
    ...(can('auditEvents.list') ? [{ to: `/audit?${search}`, text: t('audit.all') }] : []),
  ];
  if (links.length === 0) return null;
  return (
    <Card title={t('related')}>
      <ul className={classes['links']}>
        {links.map(({ to, text }) => (
          <li key={to}>
            <Link to={to}>{text}</Link>
          </li>
        ))}
      </ul>
    </Card>
  );
}

function Registration({ application }: Props): ReactNode {
  const t = useApplicationsTranslations();
  const format = useFormat();
  return (
    <PropertyList
      properties={[
        { name: t('field.client_id'), value: application.client_id },
        { name: t('field.kind'), value: t(`kind.${findBestFittingApplicationKind(application)}`) },
        { name: t('field.operator'), value: t(application.first_party ? 'operator.shop' : 'operator.other') },
        { name: t('field.registered'), value: t.value('registeredBy', application.registration) },
        { name: t('field.authentication'), value: t.value('authentication', application.token_endpoint_auth_method) },
        {
          name: t('field.codeProtection'),
          value: usesRedirectUri(findBestFittingApplicationKind(application)) && <PkceAndNonceRequirementText {...application} />,
        },
        {
          name: t('field.redirect_uris'),
          value: application.redirect_uris.length > 0 && (
            <ul className={classes['uris']}>
              {application.redirect_uris.map((uri) => (
                <li key={uri}>{uri}</li>
              ))}
            </ul>
          ),
        },
        { name: t('field.policy_uri'), value: application.policy_uri ?? false },
        { name: t('field.tos_uri'), value: application.tos_uri ?? false },
        { name: t('field.created_at'), value: format.dateTime(application.created_at) },
        { name: t('field.updated_at'), value: format.dateTime(application.updated_at) },
      ].filter(({ value }) => value !== false)}
    />
  );
}
