/**
 * `npm run fuzz -- --requests 200000 --seed 7` sends valid and invalid requests to each operation of the OpenAPI document, and checks every
 * response against the contract. Without `--seed`, each run uses a new seed. With a seed, `--only 4711` repeats only request number 4711.
 */
import { randomBytes } from 'node:crypto';
import { parseArgs } from 'node:util';
import { migrateAndOpenDatabase } from '../../server/schema/migrate-and-open-database.ts';
import { neverRejectingAttemptLimiter } from '../../server/oauth/brute-force/attempt-limiter.ts';
import { createProgressBar } from '../../server/command/progress-bar.ts';
import { startMandateServer } from '../support/server/start-mandate.ts';
import { runAdminSql, databaseUrlOnServer } from '../support/services/postgresql-databases.ts';
import { findPostgresql, startPostgresql } from '../support/services/postgresql-server.ts';
import { operations } from './openapi-operations.ts';
import { randomSeed, fuzz, type Finding } from './fuzz.ts';
import { ResponseCounts, formatFinding } from './report.ts';

/** Number of requests after which a new server with a new database starts, so that damage from earlier requests does not persist. */
const requestsPerServer = 10_000;

const { values } = parseArgs({
  options: { requests: { type: 'string', default: '200000' }, seed: { type: 'string' }, only: { type: 'string' } },
});
const seed = Number(values.seed ?? randomSeed());
const requests = values.only === undefined ? Number(values.requests) : 1;
const firstIndex = Number(values.only ?? 0);
if (![seed, requests, firstIndex].every((number) => Number.isSafeInteger(number) && number >= 0)) {
  process.stderr.write('usage: npm run fuzz -- [--requests 200000] [--seed NUMBER] [--only NUMBER]\n');
  process.exit(2);
}

const responseCounts = new ResponseCounts();
const findings: Finding[] = [];
const startedAt = performance.now();
process.stdout.write(`seed ${seed}\n`);
const postgresql = await startPostgresql(await findPostgresql());
try {
  const progress = createProgressBar(process.stderr);
  for (let done = 0; done < requests; done += requestsPerServer)
    findings.push(...(await fuzzRound(firstIndex + done, Math.min(requestsPerServer, requests - done), progress)));
} finally {
  await postgresql.stop();
}
process.stdout.write(`${responseCounts.table()}\n\n`);
for (const finding of findings) process.stdout.write(formatFinding(finding));
const seconds = (performance.now() - startedAt) / 1000;
process.stdout.write(`${responseCounts.total} responses in ${seconds.toFixed(0)} s, ${findings.length} violations, seed ${seed}\n`);
process.exitCode = findings.length === 0 ? 0 : 1;

async function fuzzRound(first: number, count: number, progress: ReturnType<typeof createProgressBar>): Promise<Finding[]> {
  const name = `fuzz_${randomBytes(4).toString('hex')}`;
  await runAdminSql(postgresql.url, `create database ${name}`);
  const db = await migrateAndOpenDatabase(databaseUrlOnServer(postgresql.url, name));
  const logged: string[] = [];
  const onLogLine = (line: string): void => void (/"level":[56]0/.test(line) && logged.push(line));
  const mandate = await startMandateServer({ db, previewVersions: true, limits: neverRejectingAttemptLimiter, onLogLine });
  const onResponse: Parameters<typeof fuzz>[0]['onResponse'] = (operation, status) => {
    responseCounts.count(operation, status);
    progress('requests', Math.min(responseCounts.total, requests - 1), requests);
  };
  const found = await fuzz({ mandate, operations: operations(), seed, first, count, onResponse });
  const serverFinding = (text: string): Finding => ({
    operation: 'the server',
    seed,
    index: first,
    fault: text,
    request: `requests ${first} to ${first + count}`,
  });
  const closed = await mandate.close().then(
    () => [],
    (error: unknown) => [serverFinding(String(error))],
  );
  await runAdminSql(postgresql.url, `drop database ${name} with (force)`);
  return [...found, ...logged.slice(0, 5).map((line) => serverFinding(`the log contains ${line.slice(0, 1_500)}`)), ...closed];
}
