import { Skeleton } from '@mantine/core';
import { Link } from 'react-router';
import type { ReactNode } from 'react';
import { Card } from '../../components/page-sections/card.tsx';
import { ErrorNotice } from '../../components/feedback/error-notice.tsx';
import { useFormat } from '../../languages/use-format.ts';
import { useHomeTranslations } from './use-home-translations.ts';
import { useProductStatistics } from './use-product-statistics.ts';
import { useStatisticsRange } from './use-statistics-range.ts';
import classes from './home.module.css';

/** Maximum number of products in each list. */
const rowCount = 5;

export function LowStockProducts(): ReactNode {
  const t = useHomeTranslations();
  const { data, error } = useProductStatistics();
  if (data?.running_low.length === 0) return null;
  return (
    <Card title={t('runningLow.title')}>
      <ErrorNotice error={error} />
      <ul className={classes['list']}>
        {data?.running_low.slice(0, rowCount).map(({ product_id, name, available }) => (
          <li key={product_id}>
            <Link to={`/products/${product_id}`} className={classes['name'] ?? ''}>
              {name}
            </Link>
            <span className={classes['amount']}>{t('runningLow.left', { count: available ?? 0 })}</span>
          </li>
        ))}
      </ul>
      {!data && !error && <Skeleton height={120} />}
    </Card>
  );
}

export function BestSellingProducts(): ReactNode {
  const t = useHomeTranslations();
  const format = useFormat();
  const { unit, count } = useStatisticsRange();
  const { data: latest, error, isPlaceholderData } = useProductStatistics();
  const data = isPlaceholderData ? undefined : latest;
  return (
    <Card title={t(`bestSellers.title.${unit}`, { count })}>
      <ErrorNotice error={error} />
      {data?.best_sellers.length === 0 && <p className={classes['muted']}>{t(`bestSellers.none.${unit}`, { count })}</p>}
      <ul className={classes['list']}>
        {data?.best_sellers.slice(0, rowCount).map(({ product_id, name, items, revenue }) => (
          <li key={product_id}>
            <span className={classes['order']}>
              <Link to={`/products/${product_id}`} className={classes['name'] ?? ''}>
                {name}
              </Link>
              <span className={classes['detail']}>{t('bestSellers.items', { count: items })}</span>
            </span>
            <span className={classes['amount']}>{format.money(revenue, data.currency)}</span>
          </li>
        ))}
      </ul>
      {!data && !error && <Skeleton height={160} />}
    </Card>
  );
}
