/** Hides the warning that SQLite is experimental in Node.js 22. The server uses it only to lock the data directory. */
export function hideSqliteWarning(): void {
  const emitWarning = process.emitWarning.bind(process);
  process.emitWarning = (warning: string | Error, ...options: never[]) => {
    if (!String(warning).startsWith('SQLite is an experimental feature')) emitWarning(warning, ...options);
  };
}
