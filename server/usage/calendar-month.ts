type CalendarMonth = { readonly name: string; readonly seconds: number; readonly begin: number; readonly end: Date };

/** The cached last result, because every request needs the month and it changes only once a month. */
let cached: CalendarMonth | undefined;

/** Returns the calendar month of a date in UTC: its name (`2026-11`), its length in seconds, its start and its end. */
export function getCalendarMonth(now: Date): CalendarMonth {
  if (cached === undefined || now.getTime() < cached.begin || now >= cached.end) cached = createMonth(now);
  return cached;
}

function createMonth(now: Date): CalendarMonth {
  const [year, month] = [now.getUTCFullYear(), now.getUTCMonth()];
  const [begin, end] = [Date.UTC(year, month), Date.UTC(year, month + 1)];
  return { name: now.toISOString().slice(0, 7), seconds: (end - begin) / 1000, begin, end: new Date(end) };
}
