import type { ClientBase } from 'pg';
import { z } from 'zod';
import { getSqlState } from '../errors/sql-error-fields.ts';
import type { PreparedQuery } from './create-pipelined-statement-sender.ts';

/** PostgreSQL settings for a connection, by name. */
export type TimeoutSettings = Readonly<Record<string, string>>;

/**
 * By default, PostgreSQL finishes a statement even when its client has disconnected. With `client_connection_check_interval`, PostgreSQL
 * checks the connection while a statement runs. This setting requires PostgreSQL 14 and a supported operating system.
 */
const connectionCheck: TimeoutSettings = { client_connection_check_interval: '1s' };
const unknownSetting = '42704';
const invalidValue = '22023';

/** Maximum time to wait for a response. This limit is needed because a pooler accepts connections even while it waits for PostgreSQL. */
const responseTimeoutMs = 5_000;

/**
 * Maps each connection through a pooler to the statement that sets a transaction's timeouts. The map has no entries for direct connections.
 */
const pooledTransactionLimits = new WeakMap<ClientBase, PreparedQuery | undefined>();

export const isBehindConnectionPooler = (client: ClientBase): boolean => pooledTransactionLimits.has(client);
export const getPooledTransactionTimeoutStatement = (client: ClientBase): PreparedQuery | undefined => pooledTransactionLimits.get(client);

/**
 * Sets a new connection's timeouts. On a direct connection, they are session settings that are set after connecting. They are not sent as
 * startup parameters, because a pooler would reject these, and only an established connection shows whether there is a pooler. Through a
 * pooler, several clients can share a session, so each transaction sets its timeouts (`getPooledTransactionTimeoutStatement`).
 * @param limits empty for a connection without timeouts
 */
export async function setConnectionTimeoutsAndDetectPooler(
  client: ClientBase,
  limits: TimeoutSettings,
  preparedStatements: boolean,
): Promise<void> {
  const { processID } = z.object({ processID: z.number() }).parse(client);
  const supported = await firstSupported([{ ...limits, ...connectionCheck }, limits], async (settings) => {
    // a pooler reports a fictitious process id to its clients
    const text = `select pg_backend_pid() = $1 as direct, case when pg_backend_pid() = $1 then ${setConfigSql(settings, 'session')} end`;
    return { settings, rows: await runWithTimeout(client, { text, values: [processID] }) };
  });
  const [row] = z.array(z.object({ direct: z.boolean() })).parse(supported.rows);
  if (row?.direct) return;
  if (Object.keys(limits).length === 0) return void pooledTransactionLimits.set(client, undefined);
  const prepared = await firstSupported([{ ...limits, ...connectionCheck }, limits], async (settings) => {
    const name = preparedStatements ? `limit_transaction_${Object.keys(settings).length}` : '';
    const statement = { name, text: `select ${setConfigSql(settings, 'transaction')}`, values: [] };
    await runWithTimeout(client, statement);
    return statement;
  });
  pooledTransactionLimits.set(client, prepared);
}

const setConfigSql = (settings: TimeoutSettings, scope: 'session' | 'transaction'): string =>
  Object.entries(settings)
    .map(([name, value]) => `set_config('${name}', '${value}', ${scope === 'transaction'})`)
    .join(' || ') || 'null';

async function runWithTimeout(client: ClientBase, statement: { readonly text: string; readonly values: unknown[] }): Promise<unknown[]> {
  const statementWithTimeout = { ...statement, query_timeout: responseTimeoutMs };
  const { rows }: { readonly rows: unknown[] } = await client.query(statementWithTimeout);
  return rows;
}

async function firstSupported<Result>(
  [first, ...rest]: TimeoutSettings[],
  apply: (settings: TimeoutSettings) => Promise<Result>,
): Promise<Result> {
  try {
    return await apply(first ?? {});
  } catch (error) {
    if (rest.length === 0 || ![unknownSetting, invalidValue].includes(getSqlState(error) ?? '')) throw error;
    return firstSupported(rest, apply);
  }
}
