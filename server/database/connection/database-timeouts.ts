import type { ClientBase } from 'pg';
import { z } from 'zod';
import { sqlState } from '../errors/sql-errors.ts';
import type { Prepared } from './pipelined-queries.ts';

/** PostgreSQL settings of a connection, by name. */
export type TimeLimits = Readonly<Record<string, string>>;

/**
 * PostgreSQL goes on with a statement after its client has disconnected, unless it checks the connection. It cannot check before
 * PostgreSQL 14 and on some operating systems.
 */
const connectionCheck: TimeLimits = { client_connection_check_interval: '1s' };
const unknownSetting = '42704';
const invalidValue = '22023';

/** A pooler accepts connections while it waits for PostgreSQL. */
const responseTimeoutMs = 5_000;

/** The statement that limits a transaction on a connection through a pooler. Connections without an entry have no pooler. */
const limitsThroughPooler = new WeakMap<ClientBase, Prepared | undefined>();

export const isThroughPooler = (client: ClientBase): boolean => limitsThroughPooler.has(client);
export const transactionLimits = (client: ClientBase): Prepared | undefined => limitsThroughPooler.get(client);

/**
 * Limits what a new connection may do. A direct connection gets the limits for its session, after connecting: poolers refuse them as
 * startup parameters. Through a pooler several clients may share a session, so each transaction sets its own limits
 * (`transactionLimits`).
 * @param limits none for a connection that may take as long as it needs
 */
export async function limitConnection(client: ClientBase, limits: TimeLimits, preparedStatements: boolean): Promise<void> {
  const { processID } = z.object({ processID: z.number() }).parse(client);
  const supported = await firstSupported([{ ...limits, ...connectionCheck }, limits], async (settings) => {
    // a pooler makes up the process id that it reports to its client
    const text = `select pg_backend_pid() = $1 as direct, case when pg_backend_pid() = $1 then ${setAll(settings, 'session')} end`;
    return { settings, rows: await run(client, { text, values: [processID] }) };
  });
  const [row] = z.array(z.object({ direct: z.boolean() })).parse(supported.rows);
  if (row?.direct) return;
  if (Object.keys(limits).length === 0) return void limitsThroughPooler.set(client, undefined);
  const prepared = await firstSupported([{ ...limits, ...connectionCheck }, limits], async (settings) => {
    const name = preparedStatements ? `limit_transaction_${Object.keys(settings).length}` : '';
    const statement = { name, text: `select ${setAll(settings, 'transaction')}`, values: [] };
    await run(client, statement);
    return statement;
  });
  limitsThroughPooler.set(client, prepared);
}

const setAll = (settings: TimeLimits, scope: 'session' | 'transaction'): string =>
  Object.entries(settings)
    .map(([name, value]) => `set_config('${name}', '${value}', ${scope === 'transaction'})`)
    .join(' || ') || 'null';

async function run(client: ClientBase, statement: { readonly text: string; readonly values: unknown[] }): Promise<unknown[]> {
  const limited = { ...statement, query_timeout: responseTimeoutMs };
  const { rows }: { readonly rows: unknown[] } = await client.query(limited);
  return rows;
}

async function firstSupported<Result>([first, ...rest]: TimeLimits[], apply: (settings: TimeLimits) => Promise<Result>): Promise<Result> {
  try {
    return await apply(first ?? {});
  } catch (error) {
    if (rest.length === 0 || ![unknownSetting, invalidValue].includes(sqlState(error) ?? '')) throw error;
    return firstSupported(rest, apply);
  }
}
