type CalendarMonth = { readonly name: string; readonly seconds: number; readonly begin: number; readonly end: Date };

/** The most recently returned month, cached because every request needs the current month. */
let cached: CalendarMonth | undefined;

/** Returns the name (such as `2026-11`), the length in seconds, the start and the end of the UTC calendar month that contains the date. */
export function calendarMonthPeriodFromDate(now: Date): CalendarMonth {
  if (cached === undefined || now.getTime() < cached.begin || now >= cached.end) cached = createMonth(now);
  return cached;
}

function createMonth(now: Date): CalendarMonth {
  const [year, month] = [now.getUTCFullYear(), now.getUTCMonth()];
  const [begin, end] = [Date.UTC(year, month), Date.UTC(year, month + 1)];
  return { name: now.toISOString().slice(0, 7), seconds: (end - begin) / 1000, begin, end: new Date(end) };
}
