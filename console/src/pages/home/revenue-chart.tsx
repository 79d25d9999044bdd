import { currencyExponent, type OrderStatistics } from '@mandate/client-sdk';
import { useState, type ReactNode } from 'react';
import { Area, CartesianGrid, ComposedChart, Line, ResponsiveContainer, Tooltip, XAxis, YAxis } from 'recharts';
import { useFormat } from '../../languages/use-format.ts';
import { useLanguage } from '../../languages/use-translations.tsx';
import type { HomeTranslate } from './use-home-translations.ts';
import type { StatisticsRange } from './use-statistics-range.ts';
import classes from './sales-overview.module.css';

type Props = { readonly statistics: OrderStatistics; readonly range: StatisticsRange; readonly t: HomeTranslate };
/** Revenue of a day or month, and of the same day or month in the previous period. */
type Period = { readonly startsAt: string; readonly current: number; readonly previous: number };

/**
 * Returns a function that formats an amount in minor units. The result has either no decimal places or all decimal places of the currency;
 * amounts of 1000 and more are abbreviated, such as `€1.5K`.
 */
function createAxisAmountFormat(language: string, currency: string): (amount: number) => string {
  const exact = new Intl.NumberFormat(language, { style: 'currency', currency, trailingZeroDisplay: 'stripIfInteger' });
  const compact = new Intl.NumberFormat(language, { style: 'currency', currency, notation: 'compact', maximumFractionDigits: 1 });
  return (amount) => {
    const value = amount / 10 ** currencyExponent(currency);
    return (value < 1000 ? exact : compact).format(value);
  };
}

/** Revenue per day or month as an area, the revenue in the previous period as a dashed line, and the same data as a table. */
export function RevenueChart({ statistics: { periods, previous_periods: before, currency }, range, t }: Props): ReactNode {
  const format = useFormat();
  const language = useLanguage();
  // The periods are compared from the newest to the oldest, because the previous period can begin in another month of the year.
  const shown = periods.map(({ starts_at: startsAt, revenue }, index): Period => ({
    startsAt,
    current: revenue,
    previous: before[before.length - periods.length + index]?.revenue ?? 0,
  }));
  const { unit, count } = range;
  const formatPeriod = unit === 'days' ? format.day : format.month;
  const formatAxisAmount = createAxisAmountFormat(language, currency);
  const axis = { tickLine: false, axisLine: false, stroke: 'var(--ink-muted)' } as const;
  return (
    <figure className={classes['sales']} aria-label={t(`chart.title.${unit}`)}>
      <ul className={classes['legend']} aria-hidden="true">
        <li>{t(`range.${unit}`, { count })}</li>
        <li className={classes['before']}>{t(`chart.previous.${unit}`, { count })}</li>
      </ul>
      <div className={classes['chart']} aria-hidden="true">
        <ResponsiveContainer>
          <ComposedChart data={shown} margin={{ top: 6, right: 4, bottom: 0, left: 0 }} accessibilityLayer={false}>
            <CartesianGrid vertical={false} stroke="var(--line)" />
            <XAxis dataKey="startsAt" tickFormatter={formatPeriod} minTickGap={40} {...axis} />
            <YAxis width={52} tickFormatter={formatAxisAmount} {...axis} />
            <Tooltip
              isAnimationActive={false}
              content={({ activeIndex }) => (
                <PeriodTooltip period={shown[Number(activeIndex)]} formatPeriod={formatPeriod} currency={currency} t={t} />
              )}
              cursor={{ stroke: 'var(--line-strong)' }}
            />
            <Area
              dataKey="current"
              stroke="var(--accent)"
              strokeWidth={2}
              fill="var(--accent)"
              fillOpacity={0.08}
              isAnimationActive={false}
            />
            <Line dataKey="previous" stroke="var(--ink-muted)" strokeDasharray="4 4" dot={false} isAnimationActive={false} />
          </ComposedChart>
        </ResponsiveContainer>
      </div>
      <PeriodTable periods={shown} range={range} formatPeriod={formatPeriod} currency={currency} t={t} />
    </figure>
  );
}

type PeriodProps = {
  readonly formatPeriod: (startsAt: string) => string;
  readonly currency: string;
  readonly t: HomeTranslate;
};

function PeriodTooltip({ period, formatPeriod, currency, t }: PeriodProps & { readonly period: Period | undefined }): ReactNode {
  const format = useFormat();
  if (!period) return null;
  return (
    <div className={classes['tooltip']}>
      <strong>{formatPeriod(period.startsAt)}</strong>
      <div>{format.money(period.current, currency)}</div>
      <div>{t('previously', { value: format.money(period.previous, currency) })}</div>
    </div>
  );
}

type PeriodTableProps = PeriodProps & { readonly periods: readonly Period[]; readonly range: StatisticsRange };

function PeriodTable({ periods, range: { unit, count }, formatPeriod, currency, t }: PeriodTableProps): ReactNode {
  const format = useFormat();
  const [isOpen, setIsOpen] = useState(false);
  return (
    <details className={classes['table']} onToggle={({ currentTarget }) => setIsOpen(currentTarget.open)}>
      <summary>{t(isOpen ? 'chart.hideTable' : 'chart.table')}</summary>
      <table>
        <thead>
          <tr>
            <th scope="col">{t(`chart.period.${unit}`)}</th>
            <th scope="col">{t(`range.${unit}`, { count })}</th>
            <th scope="col">{t(`chart.previous.${unit}`, { count })}</th>
          </tr>
        </thead>
        <tbody>
          {periods.map(({ startsAt, current, previous }) => (
            <tr key={startsAt}>
              <th scope="row">{formatPeriod(startsAt)}</th>
              <td>{format.money(current, currency)}</td>
              <td>{format.money(previous, currency)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </details>
  );
}
