/** Whether a database URL is that of a PostgreSQL server. Every other value is the directory of an embedded database. */
export const isPostgresqlUrl = (url: string): boolean => /^postgres(ql)?:/.test(url);
