import { EventEmitter } from 'node:events';
import { createRequire } from 'node:module';
import type { ClientBase, ClientConfig } from 'pg';
import { z } from 'zod';
import { createPipelinedStatementSender } from './create-pipelined-statement-sender.ts';

/** The pg version that the tests use. MikroORM's driver accepts no other version. */
const testedVersion = '8.23.0';

/**
 * Thrown if `create-pipelined-statement-sender.ts` does not work with the installed pg version. The message tells the operator what to do.
 */
export class UnsupportedPgLibraryError extends Error {
  override readonly name = 'UnsupportedPgLibraryError';
}

type PgClientClass = new (config: ClientConfig & { connection: EventEmitter }) => ClientBase;
type Pg = { readonly version: string; readonly Client: PgClientClass };

/** Loads the copy of pg that MikroORM uses, and reads its version. */
export function loadPgOfMikroOrm(): Pg {
  const requireAsMikroOrm = createRequire(createRequire(import.meta.url).resolve('@mikro-orm/postgresql'));
  const pg: unknown = requireAsMikroOrm('pg');
  const { Client } = z.object({ Client: z.custom<PgClientClass>() }).parse(pg);
  const { version } = z.object({ version: z.string() }).parse(requireAsMikroOrm('pg/package.json'));
  return { version, Client };
}

/**
 * Runs a pipelined query over a simulated connection, before the first real connection is opened. This check is needed because the pg
 * internals that `create-pipelined-statement-sender.ts` replaces can change in any release. A change to these internals could make a
 * statement run outside its transaction or return the rows of a different statement.
 * @throws {UnsupportedPgLibraryError} if pg has a different version or behaves differently
 */
export async function assertSupportedPgLibrary({ version, Client }: Pg = loadPgOfMikroOrm()): Promise<void> {
  const advice = `run "npm ci", which installs pg ${testedVersion}`;
  if (version !== testedVersion) throw new UnsupportedPgLibraryError(`the installed pg ${version} is not supported: ${advice}`);
  const difference = await findDifference(Client).catch((error: unknown) => `it fails with "${String(error)}"`);
  if (difference !== undefined) throw new UnsupportedPgLibraryError(`the installed pg was modified (${difference}): ${advice}`);
}

/** Records the messages that pg sends; `emit` simulates messages sent by the database. */
class SimulatedConnection extends EventEmitter {
  readonly sent: string[] = [];
  readonly stream = {};
  readonly parsedStatements = { begin: 'begin' };
  readonly submittedNamedStatements = {};
  readonly connect = (): void => undefined;
  readonly parse = (): void => void this.sent.push('parse');
  readonly bind = (): void => void this.sent.push('bind');
  readonly describe = (): void => void this.sent.push('describe');
  readonly execute = (): void => void this.sent.push('execute');
  readonly sync = (): void => void this.sent.push('sync');
  readonly flush = (): void => void this.sent.push('flush');
  readonly query = (): void => void this.sent.push('query');
}

async function findDifference(Client: PgClientClass): Promise<string | undefined> {
  const connection = new SimulatedConnection();
  const client = new Client({ connection });
  client.connect(() => undefined);
  connection.emit('readyForQuery');
  let isComplete = false;
  const sender = createPipelinedStatementSender(client, [() => () => (isComplete = true)]);
  const read = { name: 'read', text: 'select 1', values: [] };
  const result = sender.send(read, [{ name: 'begin', text: 'begin', values: [] }]);
  result.catch(() => undefined); // the result is awaited below, but only if the messages are as expected
  connection.emit('commandComplete', { text: 'BEGIN' });
  connection.emit('parseComplete');
  connection.emit('rowDescription', { fields: [] });
  connection.emit('dataRow', { fields: [] });
  connection.emit('commandComplete', { text: 'SELECT 1' });
  connection.emit('readyForQuery');
  const messages = connection.sent.join();
  if (messages !== 'bind,execute,parse,bind,describe,execute,sync') return `it sends ${messages}`;
  if (!isComplete) return 'it does not complete a query';
  if (!resultSchema.safeParse(await result).success) return 'it returns another result';
  return sender.isPrepared(read) ? undefined : 'it does not record prepared statements';
}

const resultSchema = z.object({ command: z.literal('SELECT'), rowCount: z.literal(1), rows: z.array(z.object({})).length(1) });
