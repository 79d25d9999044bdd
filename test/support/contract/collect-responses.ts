import { appendFile, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { declaredAnswers } from './declared-responses.ts';
import { serverDirectory } from '../server/server-directory.ts';

/** One for all projects of this run. */
let kept: ReturnType<typeof serverDirectory> | undefined;

/**
 * Collects the answers of the API that the tests of all projects see. When all tests ran, `compare` fails unless each answer the
 * contract declares was among them; a part of the tests only says how many there were, and adds their names to the file
 * `MANDATE_SEEN_ANSWERS`, if there is such a variable, so that several parts can be put together.
 */
export async function collectAnswers(project: TestProject): Promise<{ compare: () => Promise<void> }> {
  const { path: directory, remove } = await (kept ??= serverDirectory());
  project.provide('seenAnswers', directory);
  const [main] = project.vitest.projects;
  return {
    async compare() {
      if (project !== main) return;
      const seen = await answersIn(directory);
      const keep = process.env['MANDATE_SEEN_ANSWERS'];
      if (keep) await appendFile(keep, [...seen, ''].join('\n'));
      await remove();
      const missing = declaredAnswers.filter((name) => !seen.has(name));
      const whole = await allTestsRan(project);
      const found = `${declaredAnswers.length - missing.length} seen${whole ? '' : ' by this part of the tests'}`;
      process.stdout.write(`answers of the API: ${declaredAnswers.length} declared, ${found}\n`);
      if (whole && missing.length > 0) throw new Error(`no test has seen these declared answers:\n${missing.join('\n')}`);
    },
  };
}

async function answersIn(directory: string): Promise<Set<string>> {
  const files = await readdir(directory);
  const texts = await Promise.all(files.map((file) => readFile(join(directory, file), 'utf8')));
  return new Set(texts.flatMap((text) => text.split('\n')));
}

async function allTestsRan(project: TestProject): Promise<boolean> {
  const { testFiles } = await project.globTestFiles();
  const { state, config } = project.vitest;
  const ran = new Set(state.getTestModules().map(({ moduleId }) => moduleId));
  return config.testNamePattern === undefined && testFiles.every((file) => ran.has(file));
}
