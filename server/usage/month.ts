type Month = { readonly name: string; readonly seconds: number; readonly begin: number; readonly end: Date };

/** Every request asks, and the answer changes once a month. */
let last: Month | undefined;

/** A calendar month in UTC: what it is called (`2026-11`), how many seconds it has, and when it ends. */
export function monthOf(now: Date): Month {
  if (last === undefined || now.getTime() < last.begin || now >= last.end) last = newMonth(now);
  return last;
}

function newMonth(now: Date): Month {
  const [year, month] = [now.getUTCFullYear(), now.getUTCMonth()];
  const [begin, end] = [Date.UTC(year, month), Date.UTC(year, month + 1)];
  return { name: now.toISOString().slice(0, 7), seconds: (end - begin) / 1000, begin, end: new Date(end) };
}
