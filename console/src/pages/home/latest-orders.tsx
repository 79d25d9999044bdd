import { Skeleton } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { Link } from 'react-router';
import { queries } from '../../api/client.ts';
import { Card } from '../../components/page-sections/card.tsx';
import { ErrorNotice } from '../../components/feedback/error-notice.tsx';
import { useFormat } from '../../languages/use-format.ts';
import { useHomeTranslations } from './use-home-translations.ts';
import classes from './home.module.css';

export function LatestOrders(): ReactNode {
  const t = useHomeTranslations();
  const format = useFormat();
  const { data, error, refetch } = useQuery(queries.orders.list({ limit: 8, include: ['customer', 'client'] }));
  return (
    <Card title={t('recent.title')} actions={<Link to="/orders">{t('recent.all')}</Link>}>
      <ErrorNotice error={error} onRetry={() => void refetch()} />
      {data?.data.length === 0 && <p className={classes['muted']}>{t('recent.none')}</p>}
      <ul className={classes['list']}>
        {data?.data.map(({ id, customer, client, created_at, total, currency }) => (
          <li key={id}>
            <span className={classes['order']}>
              <Link to={`/orders/${id}`} className={classes['name'] ?? ''}>
                #{id} {customer?.name}
              </Link>
              <span className={classes['detail']}>
                {[format.relative(created_at), client?.name].filter((part) => typeof part === 'string').join(' · ')}
              </span>
            </span>
            <span className={classes['amount']}>{format.money(total, currency)}</span>
          </li>
        ))}
      </ul>
      {!data && !error && <Skeleton height={320} />}
    </Card>
  );
}
