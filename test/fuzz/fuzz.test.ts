import { expect, test } from 'vitest';
import { neverRejectingAttemptLimiter } from '../../server/oauth/brute-force/attempt-limiter.ts';
import { startMandateServer } from '../support/server/start-mandate.ts';
import { operations } from './openapi-operations.ts';
import { randomSeed, fuzz } from './fuzz.ts';
import { ResponseCounts, formatFinding } from './report.ts';

/** Number of requests in this shorter version of `npm run fuzz`. */
const requests = 3_000;
const timeMs = 20_000;

test('every response to a fuzzed request is declared in the contract', { timeout: 180_000 }, async () => {
  const seed = randomSeed();
  const responseCounts = new ResponseCounts();
  const failures: string[] = [];
  const mandate = await startMandateServer({
    previewVersions: true,
    limits: neverRejectingAttemptLimiter,
    onLogLine: (line) => void (/"level":[56]0/.test(line) && failures.push(line)),
  });
  const findings = await fuzz({
    mandate,
    operations: operations(),
    seed,
    first: 0,
    count: requests,
    timeMs,
    onResponse: (operation, status) => responseCounts.count(operation, status),
  });
  process.stdout.write(`fuzz: ${responseCounts.total} requests with the seed ${seed}\n`);
  await mandate.close();
  expect(findings.map((finding) => formatFinding(finding))).toEqual([]);
  expect(failures).toEqual([]);
  expect(responseCounts.total).toBeGreaterThan(0);
});
