import { currencyExponent, type OrderStatistics } from '@mandate/client-sdk';
import { useState, type ReactNode } from 'react';
import { Area, CartesianGrid, ComposedChart, Line, ResponsiveContainer, Tooltip, XAxis, YAxis } from 'recharts';
import { useFormat } from '../../languages/use-format.ts';
import { useLanguage } from '../../languages/use-messages.tsx';
import type { HomeTranslate } from './use-home-messages.ts';
import classes from './sales-overview.module.css';

type Props = { readonly statistics: OrderStatistics; readonly t: HomeTranslate };
type Day = { readonly startsAt: string; readonly current: number; readonly previous: number };

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

/** Daily revenue as an area, the revenue of the same day in the previous period as a dashed line, and the same data as a table. */
export function RevenueChart({ statistics: { periods, previous_periods: before, currency }, t }: Props): ReactNode {
  const format = useFormat();
  const language = useLanguage();
  const days = periods.map(({ starts_at: startsAt, revenue }, index): Day => ({
    startsAt,
    current: revenue,
    previous: before[index]?.revenue ?? 0,
  }));
  const formatAxisAmount = createAxisAmountFormat(language, currency);
  const axis = { tickLine: false, axisLine: false, stroke: 'var(--ink-muted)' } as const;
  return (
    <figure className={classes['sales']} aria-label={t('chart.title')}>
      <ul className={classes['legend']} aria-hidden="true">
        <li>{t('chart.current')}</li>
        <li className={classes['before']}>{t('chart.previous')}</li>
      </ul>
      <div className={classes['chart']} aria-hidden="true">
        <ResponsiveContainer>
          <ComposedChart data={days} margin={{ top: 6, right: 4, bottom: 0, left: 0 }} accessibilityLayer={false}>
            <CartesianGrid vertical={false} stroke="var(--line)" />
            <XAxis dataKey="startsAt" tickFormatter={format.day} minTickGap={40} {...axis} />
            <YAxis width={52} tickFormatter={formatAxisAmount} {...axis} />
            <Tooltip
              isAnimationActive={false}
              content={({ activeIndex }) => <DayTooltip day={days[Number(activeIndex)]} currency={currency} t={t} />}
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
      <DayTable days={days} currency={currency} t={t} />
    </figure>
  );
}

function DayTooltip({
  day,
  currency,
  t,
}: {
  readonly day: Day | undefined;
  readonly currency: string;
  readonly t: HomeTranslate;
}): ReactNode {
  const format = useFormat();
  if (!day) return null;
  return (
    <div className={classes['tooltip']}>
      <strong>{format.day(day.startsAt)}</strong>
      <div>{format.money(day.current, currency)}</div>
      <div>{t('previously', { value: format.money(day.previous, currency) })}</div>
    </div>
  );
}

function DayTable({
  days,
  currency,
  t,
}: {
  readonly days: readonly Day[];
  readonly currency: string;
  readonly t: HomeTranslate;
}): ReactNode {
  const format = useFormat();
  const [isOpen, setIsOpen] = useState(false);
  return (
    <details className={classes['table']} onToggle={({ currentTarget }) => setIsOpen(currentTarget.open)}>
      <summary>{t(isOpen ? 'chart.hideTable' : 'chart.table')}</summary>
      <table>
        <thead>
          <tr>
            <th scope="col">{t('chart.day')}</th>
            <th scope="col">{t('chart.current')}</th>
            <th scope="col">{t('chart.previous')}</th>
          </tr>
        </thead>
        <tbody>
          {days.map(({ startsAt, current, previous }) => (
            <tr key={startsAt}>
              <th scope="row">{format.day(startsAt)}</th>
              <td>{format.money(current, currency)}</td>
              <td>{format.money(previous, currency)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </details>
  );
}
