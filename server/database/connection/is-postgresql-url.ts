/** Whether a database URL refers to a PostgreSQL server. Any other value is the directory of an embedded database. */
export const isPostgresqlUrl = (url: string): boolean => /^postgres(ql)?:/.test(url);
