import { z } from 'zod';
import { databaseUrlOnServer, runAdminSql } from '../../support/services/postgresql-databases.ts';
import { closeSomeConnections } from '../load-generator/close-connections.ts';
import type { EmptyDatabase } from '../servers/empty-database.ts';
import { issuer, sendThroughProxy } from '../servers/tls-proxy.ts';
import type { ComparedServer, ComparedServerName, Operation, OperationName } from '../well-known-peers/compared-server.ts';
import type { Settings } from './rates.ts';
import { measureThroughput, median } from './run-load.ts';

/** Measurements for one server and one operation: medians over all rounds. */
export type OperationFigures = {
  readonly operation: OperationName;
  readonly server: ComparedServerName;
  readonly requests: number;
  readonly perSecond: number;
  /** CPU time of the server and of PostgreSQL, in milliseconds per operation. */
  readonly serverMs: number;
  readonly databaseMs: number;
  /** Statements that PostgreSQL executed per operation, including `begin` and `commit`. */
  readonly statements: number;
  /** Number of failed operations in all rounds. */
  readonly failed: number;
};

/** PostgreSQL server settings that are needed to count statements. */
export const statementCountSettings = ['shared_preload_libraries=pg_stat_statements', 'pg_stat_statements.max=50000'];

/** CPU time used so far, in seconds, and number of statements executed so far. */
export type CpuAndStatementCounters = { readonly server: number; readonly database: number; readonly statements: number };
type Figures = Omit<OperationFigures, 'operation' | 'server'>;
type Report = (progress: string) => void;

/**
 * CPU time after which a server's warm-up is complete, in seconds. During the warm-up, V8 compiles the server's code, which takes longer on
 * a busy machine.
 */
const warmUpCpuSeconds = 8;
/** Maximum number of rounds in a warm-up. */
const warmUpRoundsMax = 6;

/** Measures the servers' operations in turn within each round, so that other load on the machine affects all servers equally. */
export async function compareOperations(
  servers: readonly ComparedServer[],
  operations: readonly OperationName[],
  countersOf: (server: ComparedServer) => Promise<CpuAndStatementCounters>,
  { rounds, seconds, connections }: Settings,
  report: Report,
): Promise<OperationFigures[]> {
  const results: OperationFigures[] = [];
  for (const operation of operations) {
    const measured = servers.flatMap((server) => {
      const prepare = server.operations[operation];
      return prepare ? [{ server, prepare, figures: new Array<Figures>() }] : [];
    });
    for (const { server, prepare } of measured) {
      report(`${operation}: warm-up, ${server.name}`);
      await checkFirstResponse(await prepare());
      const end = (await server.cpuSeconds()) + warmUpCpuSeconds;
      for (let round = 1; round <= warmUpRoundsMax && (await server.cpuSeconds()) < end; round += 1)
        await runOperation(await prepare(), connections, seconds);
    }
    for (let round = 1; round <= rounds; round += 1) {
      for (const { server, prepare, figures } of measured) {
        report(`${operation}: round ${round} of ${rounds}, ${server.name}`);
        figures.push(await measureRound(await prepare(), () => countersOf(server), connections, seconds));
      }
    }
    for (const { server, figures } of measured) {
      const summary = summarizeRounds(figures);
      report(`${operation}: ${server.name}, ${JSON.stringify(summary)}`); // prints the result immediately, in case a later operation fails
      results.push({ operation, server: server.name, ...summary });
    }
  }
  return results;
}

async function measureRound(
  operation: Operation,
  readCounters: () => Promise<CpuAndStatementCounters>,
  connections: number,
  seconds: number,
): Promise<Figures> {
  const before = await readCounters();
  const { finished, failed, perSecond } = await runOperation(operation, connections, seconds);
  const after = await readCounters();
  const perOperation = (name: keyof CpuAndStatementCounters): number => (after[name] - before[name]) / Math.max(finished, 1);
  return {
    requests: operation.requests,
    perSecond,
    serverMs: perOperation('server') * 1000,
    databaseMs: perOperation('database') * 1000,
    statements: perOperation('statements'),
    failed,
  };
}

function summarizeRounds(rounds: readonly Figures[]): Figures {
  const medianOf = (name: keyof Figures): number => median(rounds.map((round) => round[name]));
  return {
    requests: medianOf('requests'),
    perSecond: medianOf('perSecond'),
    serverMs: medianOf('serverMs'),
    databaseMs: medianOf('databaseMs'),
    statements: medianOf('statements'),
    failed: rounds.reduce((sum, { failed }) => sum + failed, 0),
  };
}

type LoadResult = { readonly finished: number; readonly failed: number; readonly perSecond: number };

const runOperation = (operation: Operation, connections: number, seconds: number): Promise<LoadResult> =>
  'traffic' in operation
    ? measureThroughput(operation.origin, closeSomeConnections(operation.traffic), connections, seconds)
    : repeat(operation.perform, connections, seconds);

/**
 * Performs an operation repeatedly, with `concurrency` operations at a time. Operations that are still running when the time is up are
 * completed and counted.
 */
async function repeat(perform: () => Promise<unknown>, concurrency: number, seconds: number): Promise<LoadResult> {
  const begun = performance.now();
  let [finished, failed] = [0, 0];
  const worker = async (): Promise<void> => {
    while (performance.now() - begun < seconds * 1000) {
      const succeeded = await perform().then(
        () => true,
        () => false,
      );
      if (succeeded) finished += 1;
      else failed += 1;
    }
  };
  await Promise.all(Array.from({ length: concurrency }, () => worker()));
  return { finished, failed, perSecond: finished / ((performance.now() - begun) / 1000) };
}

/** Performs an operation once, and throws an error that contains the response if it fails. The load generators only count failures. */
async function checkFirstResponse(operation: Operation): Promise<void> {
  if ('perform' in operation) return void (await operation.perform());
  const { method = 'GET', path, headers = {}, body } = operation.traffic.first();
  const init = { method, headers, ...(body !== undefined && { body }) };
  const response = await sendThroughProxy(operation.origin)(new URL(path, issuer), init);
  const text = `${response.status} ${response.headers.get('location') ?? ''} ${await response.text()}`;
  if (response.status >= 400 || !text.includes(operation.expected)) throw new Error(`${method} ${path}: ${text}`);
}

const callsSchema = z.tuple([z.object({ calls: z.number() })]);

/** Returns a function that reads the CPU time and the number of statements that a server has used so far. */
export async function createCounterReader({
  url,
  cpuSeconds,
}: EmptyDatabase): Promise<(server: ComparedServer) => Promise<CpuAndStatementCounters>> {
  if (!cpuSeconds) throw new Error('the CPU time of a remote PostgreSQL server is unknown: unset DATABASE_URL');
  // uses a separate database, because the extension adds views to the schema
  await runAdminSql(url, 'create database statement_counts');
  const counts = databaseUrlOnServer(url, 'statement_counts');
  await runAdminSql(counts, 'create extension pg_stat_statements');
  const countStatements = async (database: string): Promise<number> => {
    const sql = `select coalesce(sum(calls), 0)::float8 as calls from pg_stat_statements join pg_database on oid = dbid where datname = '${database}'`;
    return callsSchema.parse(await runAdminSql(counts, sql))[0].calls;
  };
  return async (server) => ({
    server: await server.cpuSeconds(),
    database: await cpuSeconds(),
    statements: await countStatements(server.database),
  });
}
