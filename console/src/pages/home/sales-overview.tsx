import { Skeleton } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Suspense, lazy, type ReactNode } from 'react';
import type { OrderStatistics } from '@mandate/client-sdk';
import { queries } from '../../api/client.ts';
import { Card } from '../../components/page-sections/card.tsx';
import { ErrorNotice } from '../../components/feedback/error-notice.tsx';
import { useFormat } from '../../languages/use-format.ts';
import { browserTimeZone } from './browser-time-zone.ts';
import { useHomeMessages, type HomeTranslate } from './use-home-messages.ts';
import classes from './sales-overview.module.css';

/** The chart library is large, so it is loaded only after the numbers are shown. */
const RevenueChart = lazy(async () => ({ default: (await import('./revenue-chart.tsx')).RevenueChart }));

/** Orders and revenue of the last 30 days, compared with the previous 30 days. */
export function SalesOverview(): ReactNode {
  const t = useHomeMessages();
  const { data, error, refetch } = useQuery({ ...queries.stats.orders({ time_zone: browserTimeZone }), staleTime: 60_000 });
  return (
    <Card title={t('about')}>
      <ErrorNotice error={error} onRetry={() => void refetch()} />
      {data ? (
        <>
          <Figures statistics={data} t={t} />
          {data.totals.revenue + data.previous_totals.revenue === 0 ? (
            <p className={classes['empty']}>{t('chart.noRevenue')}</p>
          ) : (
            <Suspense fallback={<Skeleton height={220} />}>
              <RevenueChart statistics={data} t={t} />
            </Suspense>
          )}
        </>
      ) : (
        !error && <Skeleton height={300} />
      )}
    </Card>
  );
}

const averageOf = ({ revenue, paid_orders }: OrderStatistics['totals']): number =>
  paid_orders === 0 ? 0 : Math.round(revenue / paid_orders);

function Figures({ statistics, t }: { readonly statistics: OrderStatistics; readonly t: HomeTranslate }): ReactNode {
  const format = useFormat();
  const { totals, previous_totals: previous, currency } = statistics;
  const money = (amount: number): string => format.money(amount, currency);
  return (
    <dl className={classes['figures']}>
      <Figure name={t('revenue')} current={totals.revenue} previous={previous.revenue} show={money} t={t} />
      <Figure name={t('orders')} current={totals.orders} previous={previous.orders} show={format.number} t={t} />
      <Figure name={t('average')} current={averageOf(totals)} previous={averageOf(previous)} show={money} t={t} />
      <Figure name={t('refunded')} current={totals.refunded_total} previous={previous.refunded_total} show={money} isNegative t={t} />
    </dl>
  );
}

type FigureProps = {
  readonly name: string;
  readonly current: number;
  readonly previous: number;
  readonly show: (value: number) => string;
  /** Whether an increase of this number is undesirable. */
  readonly isNegative?: boolean;
  readonly t: HomeTranslate;
};

function Figure({ name, current, previous, show, isNegative = false, t }: FigureProps): ReactNode {
  const format = useFormat();
  const change = previous === 0 ? undefined : (current - previous) / previous;
  const isGood = change === undefined || change === 0 ? undefined : change > 0 !== isNegative;
  return (
    <div>
      <dt>{name}</dt>
      <dd>
        <span className={classes['value']}>{show(current)}</span>
        {change !== undefined && (
          <span className={classes['change']} data-good={isGood}>
            {format.change(change)}
          </span>
        )}
        <span className={classes['previous']}>{t('previously', { value: show(previous) })}</span>
      </dd>
    </div>
  );
}
