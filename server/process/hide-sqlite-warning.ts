/** Hides the warning that SQLite is experimental in Node.js 22. The server uses SQLite only to lock the data directory. */
export function hideSqliteWarning(): void {
  const emitWarning = process.emitWarning.bind(process);
  process.emitWarning = (...parameters: [warning: string | Error, ...unknown[]]) => {
    if (!String(parameters[0]).startsWith('SQLite is an experimental feature')) Reflect.apply(emitWarning, undefined, parameters);
  };
}
