import type { ReactNode } from 'react';
import { Bar, BarChart, CartesianGrid, ReferenceLine, ResponsiveContainer, Tooltip, XAxis, YAxis } from 'recharts';
import { useFormat } from '../../../languages/use-format.ts';
import { useLanguage } from '../../../languages/use-translations.tsx';
import { useApplicationsTranslations } from '../use-applications-translations.ts';
import classes from '../applications.module.css';

export type UsageMonth = { readonly month: string; readonly requests: number; readonly errors: number; readonly orders: number };

type Props = { readonly months: readonly UsageMonth[]; readonly quota: number | null };

/** Requests per month as bars, the quota as a dashed line, and the same data as a table. */
export function UsageChart({ months, quota }: Props): ReactNode {
  const t = useApplicationsTranslations();
  const language = useLanguage();
  const monthName = (month: string): string =>
    new Intl.DateTimeFormat(language, { month: 'short', timeZone: 'UTC' }).format(new Date(`${month}-01T00:00:00Z`));
  const compact = new Intl.NumberFormat(language, { notation: 'compact', maximumFractionDigits: 1 });
  // If the quota is much larger than the request counts, a scale that includes the quota would make all bars too small to see.
  const peak = Math.max(...months.map(({ requests }) => requests));
  const isQuotaVisible = quota !== null && quota <= 4 * peak;
  const axis = { tickLine: false, axisLine: false, stroke: 'var(--ink-muted)' };
  return (
    <figure aria-label={t('usage.chart')} style={{ margin: '16px 0 0' }}>
      <div className={classes['chart']} aria-hidden="true">
        <ResponsiveContainer>
          <BarChart data={[...months]} margin={{ top: 16, right: 4, bottom: 0, left: 0 }} accessibilityLayer={false}>
            <CartesianGrid vertical={false} stroke="var(--line)" />
            <XAxis dataKey="month" tickFormatter={monthName} {...axis} />
            <YAxis width={48} allowDecimals={false} tickFormatter={(value: number) => compact.format(value)} {...axis} />
            <Tooltip
              isAnimationActive={false}
              cursor={{ fill: 'var(--hover)' }}
              content={({ activeIndex }) => <MonthTooltip month={months[Number(activeIndex)]} />}
            />
            <Bar dataKey="requests" fill="var(--accent)" radius={[4, 4, 0, 0]} maxBarSize={40} isAnimationActive={false} />
            <Bar dataKey="errors" fill="var(--critical)" radius={[4, 4, 0, 0]} maxBarSize={40} isAnimationActive={false} />
            {isQuotaVisible && (
              <ReferenceLine
                y={quota}
                ifOverflow="extendDomain"
                stroke="var(--warning)"
                strokeDasharray="4 4"
                label={{ value: t('usage.quota'), position: 'insideBottomRight', fill: 'var(--warning)', fontSize: 12 }}
              />
            )}
          </BarChart>
        </ResponsiveContainer>
      </div>
      <MonthTable months={months} monthName={monthName} />
    </figure>
  );
}

function MonthTooltip({ month }: { readonly month: UsageMonth | undefined }): ReactNode {
  const t = useApplicationsTranslations();
  const format = useFormat();
  if (!month) return null;
  return (
    <div className={classes['tooltip']}>
      <strong>{month.month}</strong>
      <div>{`${t('usage.requests')}: ${format.number(month.requests)}`}</div>
      <div>{`${t('usage.errors')}: ${format.number(month.errors)}`}</div>
    </div>
  );
}

type MonthTableProps = { readonly months: readonly UsageMonth[]; readonly monthName: (month: string) => string };

function MonthTable({ months, monthName }: MonthTableProps): ReactNode {
  const t = useApplicationsTranslations();
  const format = useFormat();
  return (
    <table className={classes['table']}>
      <thead>
        <tr>
          <th scope="col">{t('usage.month')}</th>
          <th scope="col">{t('usage.requests')}</th>
          <th scope="col">{t('usage.errors')}</th>
          <th scope="col">{t('usage.orders')}</th>
        </tr>
      </thead>
      <tbody>
        {months.map(({ month, requests, errors, orders }) => (
          <tr key={month}>
            <th scope="row">{monthName(month)}</th>
            <td>{format.number(requests)}</td>
            <td>{format.number(errors)}</td>
            <td>{format.number(orders)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
