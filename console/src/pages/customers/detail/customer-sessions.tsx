import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { queries } from '../../../api/client.ts';
import { Card } from '../../../components/page-sections/card.tsx';
import { ErrorNotice } from '../../../components/feedback/error-notice.tsx';
import { useFormat } from '../../../languages/use-format.ts';
import { useCustomersTranslations } from '../use-customers-translations.ts';
import classes from './customer-detail.module.css';

/** Maximum number of sessions shown, newest first. */
const limit = 20;

/** The browsers in which a customer is signed in. */
export function CustomerSessions({ userId }: { readonly userId: number }): ReactNode {
  const t = useCustomersTranslations();
  const format = useFormat();
  const { data, error, refetch } = useQuery(queries.sessions.listOfUser(userId, { limit }));
  return (
    <Card title={t('sessions')}>
      <ErrorNotice error={error} onRetry={() => void refetch()} />
      {data?.data.length === 0 && <p>{t('sessions.empty')}</p>}
      <ul className={classes['entries']} aria-label={t('sessions')}>
        {data?.data.map(({ id, device, started_at: startedAt, last_used_at: lastUsedAt }) => (
          <li key={id}>
            <span className={classes['name']}>{device ?? t('sessions.unknown')}</span>
            <span className={classes['details']}>
              {[t('sessions.since', { time: format.dateTime(startedAt) }), t('lastUsed', { time: format.relative(lastUsedAt) })].join(
                ' · ',
              )}
            </span>
          </li>
        ))}
      </ul>
      {data?.has_more === true && <p className={classes['details']}>{t('listedNewest', { count: limit })}</p>}
    </Card>
  );
}
