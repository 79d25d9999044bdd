import { maxStatisticsDaysByInterval } from '@mandate/contract';
import { getSqlState } from '../database/errors/sql-error-fields.ts';
import { createInvalidRequestProblem, type Problem } from '../http/problem-details/problem.ts';
import { translatable } from '../http/problem-details/translatable-text.ts';

export type StatisticsInterval = keyof typeof maxStatisticsDaysByInterval;
type RequestedDays = { readonly from?: string | undefined; readonly to?: string | undefined; readonly time_zone: string };
/** The first and the last day, in the form `2026-01-31`. */
export type StatisticsPeriod = { readonly from: string; readonly to: string };

/** Returns the requested days. By default, the last day is today in the time zone, and the number of days depends on the interval. */
export function resolveStatisticsPeriod({ from, to, time_zone: timeZone }: RequestedDays, interval: StatisticsInterval): StatisticsPeriod {
  const today = currentDay(timeZone);
  const last = to ?? today;
  const days = { from: from ?? defaultFirstDay(last, interval), to: last };
  if (days.from > days.to) {
    throw createInvalidRequestProblem({
      in: 'query',
      parameter: 'from',
      code: 'conflicting_parameters',
      detail: translatable`\`from\` must not be after \`to\` (${{ to: days.to }}).`,
    });
  }
  if (countDays(days) > maxStatisticsDaysByInterval[interval]) {
    throw createInvalidRequestProblem({
      in: 'query',
      parameter: 'from',
      code: 'out_of_range',
      detail: translatable`With the interval ${{ interval }}, statistics cover at most ${{ days: maxStatisticsDaysByInterval[interval] }} days. Send a later \`from\`, an earlier \`to\` or a longer \`interval\`.`,
    });
  }
  return days;
}

/**
 * Returns the first day of the previous period. The previous period has the same number of months if the requested period consists of whole
 * months; otherwise, it has the same number of days.
 */
export function firstDayOfPreviousPeriod({ from, to }: StatisticsPeriod): string {
  const isWholeMonths = from.endsWith('-01') && addDays(to, 1).endsWith('-01');
  return isWholeMonths ? addMonths(from, -monthsBetween(from, addDays(to, 1))) : addDays(from, -countDays({ from, to }));
}

/** Returns an error handler that throws a problem if PostgreSQL does not know a time zone that JavaScript knows. */
export const createUnknownTimeZoneErrorHandler =
  (timeZone: string) =>
  (error: unknown): never => {
    throw getSqlState(error) === '22023' ? createUnknownTimeZoneProblem(timeZone) : error;
  };

const createUnknownTimeZoneProblem = (timeZone: string): Problem =>
  createInvalidRequestProblem({
    in: 'query',
    parameter: 'time_zone',
    code: 'invalid_value',
    detail: translatable`${{ timeZone }} is not a time zone. Send a name from the IANA database, such as Europe/Berlin.`,
  });

function currentDay(timeZone: string): string {
  try {
    // The Swedish locale formats dates according to ISO 8601.
    return new Intl.DateTimeFormat('sv', { timeZone, dateStyle: 'short' }).format(new Date());
  } catch (error) {
    if (error instanceof RangeError) throw createUnknownTimeZoneProblem(timeZone);
    throw error;
  }
}

function defaultFirstDay(last: string, interval: StatisticsInterval): string {
  if (interval === 'month') return addMonths(`${last.slice(0, 8)}01`, -11);
  return addDays(last, 1 - { hour: 1, day: 30, week: 84 }[interval]);
}

const dayMs = 86_400_000;
const countDays = ({ from, to }: StatisticsPeriod): number => (Date.parse(to) - Date.parse(from)) / dayMs + 1;
const addDays = (day: string, count: number): string => new Date(Date.parse(day) + count * dayMs).toISOString().slice(0, 10);
const monthsBetween = (from: string, to: string): number =>
  12 * (Number(to.slice(0, 4)) - Number(from.slice(0, 4))) + Number(to.slice(5, 7)) - Number(from.slice(5, 7));
const addMonths = (day: string, count: number): string =>
  new Date(Date.UTC(Number(day.slice(0, 4)), Number(day.slice(5, 7)) - 1 + count, 1)).toISOString().slice(0, 10);
