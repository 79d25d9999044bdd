import { expect, test } from 'vitest';
import { unlimitedAttempts } from '../../server/oauth/brute-force/attempt-limits.ts';
import { startMandate } from '../support/server/start-mandate.ts';
import { operations } from './document.ts';
import { freshSeed, fuzz } from './fuzz.ts';
import { Answers, described } from './report.ts';

/** The long form is `npm run fuzz`; this is what every run of the tests can afford. */
const requests = 3_000;
const timeMs = 20_000;

test('whatever an operation is sent, its answer is one that the contract declares', { timeout: 180_000 }, async () => {
  const seed = freshSeed();
  const answers = new Answers();
  const failures: string[] = [];
  const mandate = await startMandate({
    previewVersions: true,
    limits: unlimitedAttempts,
    onLogLine: (line) => void (/"level":[56]0/.test(line) && failures.push(line)),
  });
  const findings = await fuzz({
    mandate,
    operations: operations(),
    seed,
    first: 0,
    count: requests,
    timeMs,
    onAnswer: (operation, status) => answers.count(operation, status),
  });
  process.stdout.write(`fuzz: ${answers.total} requests with the seed ${seed}\n`);
  await mandate.close();
  expect(findings.map((finding) => described(finding))).toEqual([]);
  expect(failures).toEqual([]);
  expect(answers.total).toBeGreaterThan(0);
});
