import { NativeSelect, Skeleton } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Suspense, lazy, type ReactNode } from 'react';
import type { OrderStatistics } from '@mandate/client-sdk';
import { queries } from '../../api/client.ts';
import { Card } from '../../components/page-sections/card.tsx';
import { useSetUrlFilterAndResetPage } from '../../components/lists/use-set-url-filter-and-reset-page.ts';
import { ErrorNotice } from '../../components/feedback/error-notice.tsx';
import { useFormat } from '../../languages/use-format.ts';
import { useHomeTranslations, type HomeTranslate } from './use-home-translations.ts';
import {
  rangeParameter,
  rangeParameterValue,
  statisticsQueryOf,
  statisticsRanges,
  useStatisticsRange,
  type StatisticsRange,
} from './use-statistics-range.ts';
import classes from './sales-overview.module.css';

/** The chart library is large, so it is loaded only after the numbers are shown. */
const RevenueChart = lazy(async () => ({ default: (await import('./revenue-chart.tsx')).RevenueChart }));

/** Orders and revenue of the selected period, compared with the previous period. */
export function SalesOverview(): ReactNode {
  const t = useHomeTranslations();
  const range = useStatisticsRange();
  const { unit, count } = range;
  const query = queries.stats.orders({ ...statisticsQueryOf(range), interval: unit === 'days' ? 'day' : 'month' });
  const { data, error, refetch } = useQuery({ ...query, staleTime: 60_000 });
  return (
    <Card title={t(`about.${unit}`, { count })} actions={<RangeSelect selected={range} t={t} />}>
      <ErrorNotice error={error} onRetry={() => void refetch()} />
      {data ? (
        <>
          <Figures statistics={data} t={t} />
          {data.totals.revenue + data.previous_totals.revenue === 0 ? (
            <p className={classes['empty']}>{t(`chart.noRevenue.${unit}`, { count })}</p>
          ) : (
            <Suspense fallback={<Skeleton height={220} />}>
              <RevenueChart statistics={data} range={range} t={t} />
            </Suspense>
          )}
        </>
      ) : (
        !error && <Skeleton height={300} />
      )}
    </Card>
  );
}

function RangeSelect({ selected, t }: { readonly selected: StatisticsRange; readonly t: HomeTranslate }): ReactNode {
  const setFilter = useSetUrlFilterAndResetPage();
  return (
    <NativeSelect
      size="xs"
      aria-label={t('range')}
      value={selected.name}
      data={statisticsRanges.map(({ name, unit, count }) => ({ value: name, label: t(`range.${unit}`, { count }) }))}
      onChange={(event) => setFilter(rangeParameter, rangeParameterValue(event.currentTarget.value))}
    />
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
