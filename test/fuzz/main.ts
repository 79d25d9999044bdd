/**
 * `npm run fuzz -- --requests 200000 --seed 7`: sends each operation of the OpenAPI document what it says, and what nobody should send, and holds every answer
 * against the contract. Without a seed each run has a new one. `--only 4711` sends the one request with this number again, with what the seed makes of it.
 */
import { randomBytes } from 'node:crypto';
import { parseArgs } from 'node:util';
import { openMigratedDatabase } from '../../server/schema/open-migrated-database.ts';
import { unlimitedAttempts } from '../../server/oauth/brute-force/attempt-limits.ts';
import { createProgressBar } from '../../server/command/progress-bar.ts';
import { startMandate } from '../support/server/start-mandate.ts';
import { administer, databaseUrl } from '../support/services/postgresql-databases.ts';
import { findPostgresql, startPostgresql } from '../support/services/postgresql-server.ts';
import { operations } from './document.ts';
import { freshSeed, fuzz, type Finding } from './fuzz.ts';
import { Answers, described } from './report.ts';

/** So many, then a new server on a new database: nothing that the first requests spoiled stays so. */
const round = 10_000;

const { values } = parseArgs({
  options: { requests: { type: 'string', default: '200000' }, seed: { type: 'string' }, only: { type: 'string' } },
});
const seed = Number(values.seed ?? freshSeed());
const requests = values.only === undefined ? Number(values.requests) : 1;
const begin = Number(values.only ?? 0);
if (![seed, requests, begin].every((number) => Number.isSafeInteger(number) && number >= 0)) {
  process.stderr.write('usage: npm run fuzz -- [--requests 200000] [--seed NUMBER] [--only NUMBER]\n');
  process.exit(2);
}

const answers = new Answers();
const findings: Finding[] = [];
const begun = performance.now();
process.stdout.write(`seed ${seed}\n`);
const postgresql = await startPostgresql(await findPostgresql());
try {
  const progress = createProgressBar(process.stderr);
  for (let done = 0; done < requests; done += round)
    findings.push(...(await fuzzRound(begin + done, Math.min(round, requests - done), progress)));
} finally {
  await postgresql.stop();
}
process.stdout.write(`${answers.table()}\n\n`);
for (const finding of findings) process.stdout.write(described(finding));
const seconds = (performance.now() - begun) / 1000;
process.stdout.write(`${answers.total} answers in ${seconds.toFixed(0)} s, ${findings.length} faults, seed ${seed}\n`);
process.exitCode = findings.length === 0 ? 0 : 1;

async function fuzzRound(first: number, count: number, progress: ReturnType<typeof createProgressBar>): Promise<Finding[]> {
  const name = `fuzz_${randomBytes(4).toString('hex')}`;
  await administer(postgresql.url, `create database ${name}`);
  const db = await openMigratedDatabase(databaseUrl(postgresql.url, name));
  const logged: string[] = [];
  const onLogLine = (line: string): void => void (/"level":[56]0/.test(line) && logged.push(line));
  const mandate = await startMandate({ db, previewVersions: true, limits: unlimitedAttempts, onLogLine });
  const onAnswer: Parameters<typeof fuzz>[0]['onAnswer'] = (operation, status) => {
    answers.count(operation, status);
    progress('requests', Math.min(answers.total, requests - 1), requests);
  };
  const found = await fuzz({ mandate, operations: operations(), seed, first, count, onAnswer });
  const fault = (text: string): Finding => ({
    operation: 'the server',
    seed,
    index: first,
    fault: text,
    request: `requests ${first} to ${first + count}`,
  });
  const closed = await mandate.close().then(
    () => [],
    (error: unknown) => [fault(String(error))],
  );
  await administer(postgresql.url, `drop database ${name} with (force)`);
  return [...found, ...logged.slice(0, 5).map((line) => fault(`it logged ${line.slice(0, 1_500)}`)), ...closed];
}
