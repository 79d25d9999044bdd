import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { installSchemathesis } from './install-schemathesis.ts';
import { startTokenServer, type TestedServer } from './tested-server.ts';

export type RunOptions = {
  readonly seed: number;
  /** Maximum number of generated cases for each operation in each phase that generates random cases. */
  readonly maxExamples: number;
  /** Phases to run, such as `coverage`. */
  readonly phases: readonly string[];
  /** Operation IDs to test (default: all). */
  readonly operations?: readonly string[];
  /** Receives the output of Schemathesis. */
  readonly onOutput?: (text: string) => void;
};

const reportSchema = z.object({
  complete: z.boolean(),
  exit_code: z.number(),
  running_time: z.number().nullable(),
  operations: z.object({ total: z.number(), tested: z.number(), errored: z.number() }).nullable(),
  phases: z.record(z.object({ status: z.string() })).nullable(),
  test_cases: z.object({ generated: z.number(), with_failures: z.number() }),
  filtered: z.number(),
  failures: z.array(z.object({ title: z.string(), count: z.number(), operations: z.array(z.string()) })),
  errors: z.array(z.object({ title: z.string(), count: z.number() })),
});

export type SchemathesisResult = {
  readonly operations: number;
  readonly cases: number;
  readonly seconds: number;
  /** Number of failures that hooks.py has dropped, with a reason for each kind. */
  readonly dropped: number;
  /** Result of each phase, such as `coverage: success`. */
  readonly phases: readonly string[];
  /** One string for each failed check or error: its name, the number of failures, and the affected operations. */
  readonly failures: readonly string[];
  /** The whole output, with a `curl` command for each failure. */
  readonly output: string;
};

/** Runs all checks of Schemathesis against a running server, with the OpenAPI document that this server publishes. */
export async function runSchemathesis(server: TestedServer, options: RunOptions): Promise<SchemathesisResult> {
  const interpreter = await installSchemathesis();
  await using tokens = await startTokenServer(server);
  const directory = await mkdtemp(join(tmpdir(), 'mandate-schemathesis-run-'));
  try {
    const report = join(directory, 'report.json');
    const child = spawn(interpreter, ['-m', 'schemathesis.cli', ...argumentsFor(server.url, options, report)], {
      cwd: directory,
      env: {
        // oxlint-disable-next-line node/no-process-env -- the child process uses the caller's programs
        PATH: process.env['PATH'],
        SCHEMATHESIS_HOOKS: join(import.meta.dirname, 'hooks.py'),
        PYTHONDONTWRITEBYTECODE: '1',
        MANDATE_TOKEN_URL: tokens.url,
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let output = '';
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (chunk) => {
        output += String(chunk);
        options.onOutput?.(String(chunk));
      });
    await once(child, 'close');
    const text = await readFile(report, 'utf8').catch(() => {
      throw new Error(`Schemathesis wrote no report:\n${output.slice(-4000)}`);
    });
    return toResult(reportSchema.parse(JSON.parse(text)), output);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

const argumentsFor = (url: string, { seed, maxExamples, phases, operations = [] }: RunOptions, report: string): string[] => [
  '--config-file',
  join(import.meta.dirname, 'schemathesis.toml'),
  'run',
  `${url}/openapi.json`,
  '--checks=all',
  `--phases=${phases.join(',')}`,
  `--seed=${seed}`,
  `--max-examples=${maxExamples}`,
  '--report=json',
  `--report-json-path=${report}`,
  '--output-truncate=false',
  '--no-color',
  ...operations.map((operation) => `--include-operation-id=${operation}`),
];

function toResult(report: z.infer<typeof reportSchema>, output: string): SchemathesisResult {
  const { complete, exit_code: exitCode, operations, phases, test_cases: cases, running_time: seconds } = report;
  const failures = [
    ...report.failures.map(({ title, count, operations: failed }) => `${title} (${count}): ${failed.join(', ')}`),
    ...report.errors.map(({ title, count }) => `error (${count}): ${title}`),
  ];
  // A run that ended early may report no failures because it tested nothing.
  if (failures.length === 0 && (!complete || exitCode !== 0)) failures.push(`Schemathesis exited with ${exitCode}`);
  return {
    operations: operations?.tested ?? 0,
    cases: cases.generated,
    seconds: seconds ?? 0,
    dropped: report.filtered,
    phases: Object.entries(phases ?? {}).map(([phase, { status }]) => `${phase}: ${status}`),
    failures,
    output,
  };
}

/** Describes a result in a few lines. */
export const describeResult = ({ operations, cases, seconds, dropped, phases, failures }: SchemathesisResult): string =>
  [
    `${cases} cases for ${operations} operations in ${seconds.toFixed(0)} s, ${failures.length} kinds of failures, ${dropped} expected rejections (${phases.join(', ')})`,
    ...failures,
  ].join('\n');
