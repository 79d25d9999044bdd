import type { AuditEvent } from '@mandate/client-sdk';
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { queries } from '../../../api/client.ts';
import { useApplicationNameLookup } from '../../../api/use-application-names.ts';
import { useUserNames } from '../../../api/use-user-names.ts';
import { Card } from '../../../components/page-sections/card.tsx';
import { ErrorNotice } from '../../../components/feedback/error-notice.tsx';
import { useFormat } from '../../../languages/use-format.ts';
import { useCustomersTranslations } from '../use-customers-translations.ts';
import classes from './account-history.module.css';

/** Latest sign-ins, consents, API keys and other changes to a customer's access, from the audit log. */
export function AccountHistory({ userId }: { readonly userId: number }): ReactNode {
  const t = useCustomersTranslations();
  const { data, error, refetch } = useQuery(queries.auditEvents.list({ user_id: userId, limit: 20 }));
  const userNames = useUserNames(data?.data.map(({ actor_id: actorId }) => (actorId === userId ? null : actorId)) ?? []);
  const applicationName = useApplicationNameLookup();
  const names = {
    user: (id: number): string => userNames.get(id) ?? `#${id}`,
    application: applicationName,
  };
  return (
    <Card title={t('history')}>
      <ErrorNotice error={error} onRetry={() => void refetch()} />
      {data?.data.length === 0 && <p>{t('history.empty')}</p>}
      <ol className={classes['events']}>
        {data?.data.map((event) => (
          <Entry key={event.id} event={event} names={names} />
        ))}
      </ol>
    </Card>
  );
}

type Names = { readonly user: (id: number) => string; readonly application: (clientId: string) => string };

function Entry({ event, names }: { readonly event: AuditEvent; readonly names: Names }): ReactNode {
  const t = useCustomersTranslations();
  const format = useFormat();
  const { action, outcome, client_id: clientId, actor_id: actorId, user_id: userId, occurred_at: occurredAt } = event;
  const name = t.value('action', action);
  const details = [
    format.relative(occurredAt),
    clientId === null ? null : names.application(clientId),
    ...(actorId !== null && actorId !== userId ? [t('history.byUser', { name: names.user(actorId) })] : []),
  ];
  return (
    <li>
      <span data-refused={outcome === 'refused'}>{outcome === 'refused' ? t('history.refused', { action: name }) : name}</span>
      <span className={classes['details']} title={format.dateTime(occurredAt)}>
        {details.filter((detail) => detail !== null).join(' · ')}
      </span>
    </li>
  );
}
