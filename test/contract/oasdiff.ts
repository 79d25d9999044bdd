/**
 * `npm run contract:oasdiff` compares the verdicts of our compatibility check with those of oasdiff, for each planted change and its
 * reversal. The script uses Go to install oasdiff in the temporary directory, and fails if verdicts differ without a reason in
 * oasdiff-differences.ts. The script stores the verdicts in oasdiff-verdicts.json, which
 * oasdiff.test.ts checks without Go.
 */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { z } from 'zod';
import { compareDocuments } from './compare-documents.ts';
import { differenceReasons } from './oasdiff-differences.ts';
import {
  getChangeKey,
  isExplained,
  plantedChanges,
  storeVerdicts,
  type PlantedChange,
  type Verdict,
  type VerdictPair,
} from './oasdiff-verdicts.ts';

const run = promisify(execFile);
const version = 'v1.37.0';

/** Installs oasdiff, if it is not yet installed, and returns the path of the program. */
async function installOasdiff(): Promise<string> {
  const directory = join(tmpdir(), `mandate-oasdiff-${version}`);
  const program = join(directory, 'oasdiff');
  if (existsSync(program)) return program;
  await mkdir(directory, { recursive: true });
  // oxlint-disable-next-line node/no-process-env -- Go uses the caller's caches and proxy
  await run('go', ['install', `github.com/oasdiff/oasdiff@${version}`], { env: { ...process.env, GOBIN: directory } });
  return program;
}

const changesSchema = z.array(z.object({ id: z.string(), level: z.number() }));
/** Level of a change that breaks clients. Lower levels are warnings and information. */
const errorLevel = 3;

const toVerdict = (isBreaking: boolean): Verdict => (isBreaking ? 'breaking' : 'compatible');

/** Returns oasdiff's verdict and the rule violations that it reported. */
async function askOasdiff(program: string, { before, after }: PlantedChange): Promise<Pick<VerdictPair, 'oasdiff' | 'rules'>> {
  const directory = await mkdtemp(join(tmpdir(), 'mandate-oasdiff-'));
  try {
    const files = [join(directory, 'before.json'), join(directory, 'after.json')] as const;
    await writeFile(files[0], JSON.stringify(before));
    await writeFile(files[1], JSON.stringify(after));
    const { stdout } = await run(program, ['changelog', ...files, '--format', 'json']);
    const changes = changesSchema.parse(stdout.trim() === '' ? [] : JSON.parse(stdout));
    const errors = changes.filter(({ level }) => level === errorLevel);
    return {
      oasdiff: toVerdict(errors.length > 0),
      rules: [...new Set((errors.length > 0 ? errors : changes).map(({ id }) => id))].join(', '),
    };
  } finally {
    await rm(directory, { recursive: true });
  }
}

const program = await installOasdiff();
const counts = { verdicts: 0, equal: 0, stricter: 0, unexplained: 0 };
process.stdout.write(
  '| change | direction | this project | oasdiff | rules of oasdiff | reason for the difference |\n|---|---|---|---|---|---|\n',
);
const verdicts: Record<string, VerdictPair> = {};
for (const change of plantedChanges) {
  const key = getChangeKey(change);
  const isBreaking = (await compareDocuments(change.before, change.after)).some(({ impact }) => impact === 'major');
  const pair: VerdictPair = { ours: toVerdict(isBreaking), ...(await askOasdiff(program, change)) };
  verdicts[key] = pair;
  counts.verdicts += 1;
  if (pair.ours === pair.oasdiff) counts.equal += 1;
  else if (isBreaking) counts.stricter += 1;
  if (!isExplained(key, pair)) counts.unexplained += 1;
  const cells = [change.name, change.direction, pair.ours, pair.oasdiff, pair.rules];
  process.stdout.write(`| ${[...cells, isExplained(key, pair) ? (differenceReasons[key] ?? '') : '**unexplained**'].join(' | ')} |\n`);
}
await storeVerdicts(version, verdicts);
process.stdout.write(
  `\noasdiff ${version}: ${counts.equal} of ${counts.verdicts} verdicts are equal; this project's check is stricter in ${counts.stricter}; ${counts.unexplained} unexplained\n`,
);
process.exitCode = counts.unexplained === 0 ? 0 : 1;
