import { useSearchParams } from 'react-router';
import { browserTimeZone } from './browser-time-zone.ts';

/** Range of the statistics: the last `count` days, with the sums of each day, or the last `count` months, with the sums of each month. */
export type StatisticsRange = { readonly name: string; readonly unit: 'days' | 'months'; readonly count: number };

const defaultRange: StatisticsRange = { name: '30d', unit: 'days', count: 30 };
export const statisticsRanges: readonly StatisticsRange[] = [
  { name: '7d', unit: 'days', count: 7 },
  defaultRange,
  { name: '90d', unit: 'days', count: 90 },
  { name: '12m', unit: 'months', count: 12 },
];

/** Name of the URL parameter that contains the range. */
export const rangeParameter = 'range';

/** Returns the value of the URL parameter for a range. The default range needs no parameter. */
export const rangeParameterValue = (name: string): string => (name === defaultRange.name ? '' : name);

/** Returns the range in the URL. */
export function useStatisticsRange(): StatisticsRange {
  const name = useSearchParams()[0].get(rangeParameter);
  return statisticsRanges.find((range) => range.name === name) ?? defaultRange;
}

/** Returns the parameters of a statistics request for a range that ends today in the browser's time zone. The last month is this month. */
export function statisticsQueryOf({ unit, count }: StatisticsRange): { readonly from: string; readonly time_zone: string } {
  const today = new Date();
  const [year, month, day] = [today.getFullYear(), today.getMonth(), today.getDate()];
  const first = unit === 'days' ? Date.UTC(year, month, day - count + 1) : Date.UTC(year, month - count + 1, 1);
  return { from: new Date(first).toISOString().slice(0, 10), time_zone: browserTimeZone };
}
