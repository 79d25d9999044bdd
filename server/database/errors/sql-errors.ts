/** The SQLSTATE of a failed query, whichever driver or layer threw it; `undefined` for any other error. */
export const sqlState = (error: unknown): string | undefined => textOf(error, 'code');

/** Which constraint a failed query met. */
export const constraintOf = (error: unknown): string | undefined => textOf(error, 'constraint');

/** What PostgreSQL was doing when a query failed, in its words. */
export const whereOf = (error: unknown): string | undefined => textOf(error, 'where');

function textOf(error: unknown, field: 'code' | 'constraint' | 'where'): string | undefined {
  if (typeof error !== 'object' || error === null || !(field in error)) return undefined;
  const value: unknown = Reflect.get(error, field);
  return typeof value === 'string' ? value : undefined;
}
