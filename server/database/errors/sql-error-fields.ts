/** Returns the SQLSTATE of a failed query, regardless of the driver or layer that threw the error; `undefined` for any other error. */
export const getSqlState = (error: unknown): string | undefined => stringField(error, 'code');

/** Returns the name of the violated constraint. */
export const getViolatedConstraint = (error: unknown): string | undefined => stringField(error, 'constraint');

/** Returns the context that PostgreSQL reports with an error, such as the statement that was running. */
export const getPostgresqlContextText = (error: unknown): string | undefined => stringField(error, 'where');

function stringField(error: unknown, field: 'code' | 'constraint' | 'where'): string | undefined {
  if (typeof error !== 'object' || error === null || !(field in error)) return undefined;
  const value: unknown = Reflect.get(error, field);
  return typeof value === 'string' ? value : undefined;
}
