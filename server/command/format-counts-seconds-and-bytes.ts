/** Formats the size of a backup, such as `34 tables, 102,345 rows`. */
export const formatTableAndRowCounts = ({ tables, rows }: { readonly tables: number; readonly rows: number }): string =>
  `${tables} tables, ${rows.toLocaleString('en')} rows`;

/** @param begun start time, from `performance.now()` */
export const formatSecondsSince = (begun: number): string => `${((performance.now() - begun) / 1000).toFixed(1)} s`;

const units = ['B', 'kB', 'MB', 'GB', 'TB'];

/** Formats a number of bytes, such as `1.4 MB`. */
export function formatBytes(bytes: number): string {
  const power = Math.min(units.length - 1, Math.floor(Math.log10(Math.max(1, bytes)) / 3));
  return `${(bytes / 1000 ** power).toFixed(power === 0 ? 0 : 1)} ${units[power]}`;
}
