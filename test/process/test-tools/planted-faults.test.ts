import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { beforeAll, describe, expect, inject, test } from 'vitest';
import { z } from 'zod';
import { databaseKind } from '../../support/services/database.ts';
import { faults, namesOfFaultsDetectedBy } from './planted-faults/faults.ts';
import type { TestRunInput } from './planted-faults/run-tests-with-faults.ts';

const reportSchema = z.object({
  testResults: z.array(
    z.object({
      name: z.string(),
      assertionResults: z.array(z.object({ fullName: z.string(), status: z.string(), failureMessages: z.array(z.string()) })),
    }),
  ),
});
type TestResult = z.infer<typeof reportSchema>['testResults'][number]['assertionResults'][number];

let results: Map<string, TestResult[]>;
let output: string;

async function runTestsWithFaults(): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'mandate-planted-'));
  try {
    const report = join(directory, 'report.json');
    // The faulty server's responses are recorded in a separate directory, so that they do not count as tested responses.
    const input: TestRunInput = { provide: { database: inject('database'), seenResponses: directory }, report };
    const program = join(import.meta.dirname, 'planted-faults/run-tests-with-faults.ts');
    const runner = spawn(process.execPath, [program, JSON.stringify(input)], {
      env: { PATH: process.env['PATH'], NO_COLOR: '1' },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const [standardOutput, errors] = await Promise.all([text(runner.stdout), text(runner.stderr), once(runner, 'exit')]);
    output = standardOutput + errors;
    const { testResults } = reportSchema.parse(JSON.parse(await readFile(report, 'utf8')));
    const all = testResults.flatMap(({ name, assertionResults }) =>
      assertionResults.flatMap((result) => namesOfFaultsDetectedBy(name, result.fullName).map((fault) => ({ fault, result }))),
    );
    results = new Map([...Map.groupBy(all, ({ fault }) => fault)].map(([fault, found]) => [fault, found.map(({ result }) => result)]));
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

describe.skipIf(databaseKind === 'pglite')('tests fail on a server with a planted fault, and pass without it', () => {
  beforeAll(runTestsWithFaults, 600_000);

  test.each(Object.entries(faults))('%s', (name, { fromStart }) => {
    const tests = results.get(name) ?? [];
    expect(tests.length, output).toBeGreaterThan(0);
    const failed = tests.filter(({ failureMessages }) => failureMessages.length > 0);
    const messages = failed.flatMap(({ failureMessages }) => failureMessages).join('\n');
    expect(failed.length, 'tests that failed with the fault').toBeGreaterThan(0);
    expect(messages).toContain('AssertionError'); // the failure is not an import or startup error
    const failedWithoutFault = failed.filter(({ status }) => status !== 'passed');
    expect(failedWithoutFault, messages).toHaveLength(fromStart === true ? failed.length : 0);
  });
});
