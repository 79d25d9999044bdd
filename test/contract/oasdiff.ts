/**
 * `npm run contract:oasdiff` compares the verdicts of our compatibility check with those of oasdiff, for each planted change and its
 * reversal. The script uses Go to install oasdiff in the temporary directory, and fails if verdicts differ without a reason in
 * oasdiff-differences.ts.
 */
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { z } from 'zod';
import { compareDocuments } from './compare-documents.ts';
import { breakingPairs, compatiblePairs, debatablePairs } from './document-pairs.ts';
import { differenceReasons } from './oasdiff-differences.ts';

const run = promisify(execFile);
const version = 'v1.37.0';

/** Installs oasdiff, if it is not yet installed, and returns the path of the program. */
async function installOasdiff(): Promise<string> {
  const directory = join(tmpdir(), `mandate-oasdiff-${version}`);
  await mkdir(directory, { recursive: true });
  // oxlint-disable-next-line node/no-process-env -- Go uses the caller's caches and proxy
  await run('go', ['install', `github.com/oasdiff/oasdiff@${version}`], { env: { ...process.env, GOBIN: directory } });
  return join(directory, 'oasdiff');
}

const changesSchema = z.array(z.object({ id: z.string(), level: z.number() }));
/** Level of a change that breaks clients. Lower levels are warnings and information. */
const errorLevel = 3;

type Verdict = { readonly isBreaking: boolean; readonly rules: readonly string[] };

/** Returns the verdict of oasdiff, and the rules that it found violated. */
async function askOasdiff(program: string, before: unknown, after: unknown): Promise<Verdict> {
  const directory = await mkdtemp(join(tmpdir(), 'mandate-oasdiff-'));
  try {
    const files = [join(directory, 'before.json'), join(directory, 'after.json')] as const;
    await writeFile(files[0], JSON.stringify(before));
    await writeFile(files[1], JSON.stringify(after));
    const { stdout } = await run(program, ['changelog', ...files, '--format', 'json']);
    const changes = changesSchema.parse(stdout.trim() === '' ? [] : JSON.parse(stdout));
    const errors = changes.filter(({ level }) => level === errorLevel);
    return { isBreaking: errors.length > 0, rules: [...new Set((errors.length > 0 ? errors : changes).map(({ id }) => id))] };
  } finally {
    await rm(directory, { recursive: true });
  }
}

const program = await installOasdiff();
const word = (isBreaking: boolean): string => (isBreaking ? 'breaking' : 'compatible');
const counts = { verdicts: 0, equal: 0, stricter: 0, unexplained: 0 };
process.stdout.write(
  '| change | direction | this project | oasdiff | rules of oasdiff | reason for the difference |\n|---|---|---|---|---|---|\n',
);
for (const { name, before, after } of [...breakingPairs, ...compatiblePairs, ...debatablePairs]) {
  for (const [direction, from, to] of [
    ['made', before, after],
    ['reversed', after, before],
  ] as const) {
    const isBreaking = (await compareDocuments(from, to)).some(({ impact }) => impact === 'major');
    const theirs = await askOasdiff(program, from, to);
    const isEqual = isBreaking === theirs.isBreaking;
    const reason = differenceReasons[`${name}, ${direction}`];
    counts.verdicts += 1;
    if (isEqual) counts.equal += 1;
    else if (isBreaking) counts.stricter += 1;
    // A documented reason without a difference is as wrong as a difference without a reason.
    const isExplained = isEqual === (reason === undefined);
    if (!isExplained) counts.unexplained += 1;
    const cells = [name, direction, word(isBreaking), word(theirs.isBreaking), theirs.rules.join(', ')];
    process.stdout.write(`| ${[...cells, isExplained ? (reason ?? '') : '**unexplained**'].join(' | ')} |\n`);
  }
}
process.stdout.write(
  `\noasdiff ${version}: ${counts.equal} of ${counts.verdicts} verdicts are equal; this project is stricter in ${counts.stricter}; ${counts.unexplained} unexplained\n`,
);
process.exitCode = counts.unexplained === 0 ? 0 : 1;
