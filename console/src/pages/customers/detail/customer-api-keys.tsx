import type { ApiKey } from '@mandate/client-sdk';
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { queries } from '../../../api/client.ts';
import { ErrorNotice } from '../../../components/feedback/error-notice.tsx';
import { StatusBadge, type StatusTone } from '../../../components/feedback/status-badge.tsx';
import { Card } from '../../../components/page-sections/card.tsx';
import { PermissionList } from '../../../components/page-sections/permission-list.tsx';
import { useFormat } from '../../../languages/use-format.ts';
import { useCustomersTranslations } from '../use-customers-translations.ts';
import classes from './customer-detail.module.css';

/** Maximum number of keys shown, newest first. */
const limit = 20;

const tones: Readonly<Record<ApiKey['status'], StatusTone>> = { active: 'positive', revoked: 'critical', expired: 'neutral' };

/** A customer's API keys. Renders nothing if there are none, because few customers have keys. */
export function CustomerApiKeys({ userId }: { readonly userId: number }): ReactNode {
  const t = useCustomersTranslations();
  const format = useFormat();
  const { data, error, refetch } = useQuery(queries.apiKeys.listOfUser(userId, { limit }));
  if (!error && (data === undefined || data.data.length === 0)) return null;
  return (
    <Card title={t('keys')}>
      <ErrorNotice error={error} onRetry={() => void refetch()} />
      <ul className={classes['entries']} aria-label={t('keys')}>
        {data?.data.map(({ id, name, prefix, scopes, status, last_used_at: lastUsedAt }) => (
          <li key={id}>
            <span className={classes['name']}>
              {name} <StatusBadge tone={tones[status]}>{t.value('keyStatus', status)}</StatusBadge>
            </span>
            <span className={classes['details']}>
              {[`${prefix}…`, lastUsedAt === null ? t('keys.unused') : t('lastUsed', { time: format.relative(lastUsedAt) })].join(' · ')}
            </span>
            <PermissionList scopes={scopes} />
          </li>
        ))}
      </ul>
      {data?.has_more === true && <p className={classes['details']}>{t('listedNewest', { count: limit })}</p>}
    </Card>
  );
}
