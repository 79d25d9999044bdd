import { formatMoney, type OrderStatistics } from '@mandate/client-sdk';
import type { CliEnvironment } from '../environment/cli-environment-type.ts';
import type { Settings } from '../settings/resolve-settings.ts';
import { type ChartRow, chooseChartCharacters, renderBarChart, renderSparkline } from '../terminal/bar-chart-and-sparkline.ts';
import { sanitizeForTerminal } from '../terminal/sanitize-and-measure-terminal-text.ts';
import { printResult } from './print-result.ts';

const columns = ['period', 'orders', 'items', 'revenue', 'refunded_total', 'net_revenue'] as const;
const groupColumns = ['key', 'name', 'orders', 'items', 'revenue', 'previous_revenue'] as const;

/**
 * Prints one row for each period or group. On a terminal, amounts include the currency; otherwise, they are plain numbers in minor units.
 */
export function printOrderStatisticsTable(io: CliEnvironment, settings: Settings, statistics: OrderStatistics): void {
  const money = (amount: number | null): number | string | null =>
    amount === null || !io.stdout.isTTY ? amount : formatMoney(amount, statistics.currency);
  if (statistics.group_by !== null) {
    const rows = statistics.groups.map(({ key, name, totals, previous_totals: previous }) => ({
      key,
      name,
      orders: totals.orders,
      items: totals.items,
      revenue: money(totals.revenue),
      previous_revenue: money(previous.revenue),
    }));
    return printResult(io, settings, { data: rows }, groupColumns, { key: statistics.group_by });
  }
  const rows = statistics.periods.map((period) => ({
    period: formatPeriod(statistics, period.starts_at),
    orders: period.orders,
    items: period.items,
    revenue: money(period.revenue),
    refunded_total: money(period.refunded_total),
    net_revenue: money(period.net_revenue),
  }));
  printResult(io, settings, { data: rows }, columns);
}

/** Draws the totals with sparklines, and a bar for the revenue of each period or group. */
export function printOrderStatisticsChart(io: CliEnvironment, statistics: OrderStatistics): void {
  const { currency, totals, previous_totals: previous, periods, from, to, time_zone: timeZone } = statistics;
  const characters = chooseChartCharacters(io);
  const money = (amount: number): string => formatMoney(amount, currency);
  const width = Math.max(20, io.stdout.columns - 1);
  const title = from === to ? from : `${from} to ${to}`;
  const figures = [
    {
      name: 'orders',
      text: String(totals.orders),
      now: totals.orders,
      before: previous.orders,
      values: periods.map((each) => each.orders),
    },
    { name: 'items', text: String(totals.items), now: totals.items, before: previous.items, values: periods.map((each) => each.items) },
    {
      name: 'revenue',
      text: money(totals.revenue),
      now: totals.revenue,
      before: previous.revenue,
      values: periods.map((each) => each.revenue),
    },
    {
      name: 'refunded',
      text: money(totals.refunded_total),
      now: totals.refunded_total,
      before: previous.refunded_total,
      values: periods.map((each) => each.refunded_total),
    },
  ];
  const textWidth = Math.max(...figures.map(({ text }) => text.length));
  const summary = figures.map(({ name, text, now, before, values }) => {
    const start = `${name.padEnd(8)}  ${text.padStart(textWidth)}  ${formatChange(now, before).padStart(6)}  `;
    // If not all periods fit, only the newest periods are shown.
    return `${start}${renderSparkline(values.slice(-Math.max(1, width - start.length)), characters)}`.trimEnd();
  });
  const chart = renderBarChart(chartRows(statistics, money), characters, width);
  io.stdout.write(sanitizeLines(`${title} (${timeZone}), compared with the previous period\n${summary.join('\n')}\n\n${chart}`));
}

function chartRows(statistics: OrderStatistics, money: (amount: number) => string): ChartRow[] {
  if (statistics.group_by === null) {
    return statistics.periods.map((period) => ({
      label: formatPeriod(statistics, period.starts_at),
      value: period.revenue,
      text: `${money(period.revenue)}  ${String(period.orders).padStart(4)} orders`,
    }));
  }
  return statistics.groups.map(({ key, name, totals }) => ({
    label: name ?? (key || '(none)'),
    value: totals.revenue,
    text: `${money(totals.revenue)}  ${formatChangeOfGroup(statistics, key).padStart(6)}`,
  }));
}

function formatChangeOfGroup({ groups }: OrderStatistics, key: string): string {
  const group = groups.find((each) => each.key === key);
  return formatChange(group?.totals.revenue ?? 0, group?.previous_totals.revenue ?? 0);
}

/** Formats a change such as `+12%`. Returns an empty string if there is no earlier value to compare with. */
const formatChange = (now: number, before: number): string => {
  if (before === 0) return '';
  const percent = Math.round((now / before - 1) * 100);
  return percent > 999 ? '>999%' : `${percent >= 0 ? '+' : ''}${percent}%`;
};

/** Formats the start of a period in the time zone of the statistics. */
function formatPeriod({ interval, time_zone: timeZone }: OrderStatistics, startsAt: string): string {
  const text = new Intl.DateTimeFormat('sv', { timeZone, dateStyle: 'short', timeStyle: 'short' }).format(new Date(startsAt));
  return text.slice(0, { hour: 16, day: 10, week: 10, month: 7 }[interval]);
}

const sanitizeLines = (text: string): string => text.split('\n').map(sanitizeForTerminal).join('\n');
