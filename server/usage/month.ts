/** A calendar month in UTC: what it is called (`2026-11`), how many seconds it has, and when it ends. */
export function monthOf(now: Date): { readonly name: string; readonly seconds: number; readonly end: Date } {
  const [year, month] = [now.getUTCFullYear(), now.getUTCMonth()];
  const [begin, end] = [Date.UTC(year, month), Date.UTC(year, month + 1)];
  return { name: now.toISOString().slice(0, 7), seconds: (end - begin) / 1000, end: new Date(end) };
}
