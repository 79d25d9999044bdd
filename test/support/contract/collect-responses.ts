import { appendFile, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { declaredResponseNames } from './declared-responses.ts';
import { createServerDirectory } from '../services/server-directory.ts';

/** All projects of a test run share this directory. */
let sharedDirectory: ReturnType<typeof createServerDirectory> | undefined;

/**
 * Collects the API responses that the tests in all projects receive. After a full test run, `checkCoverage` fails unless every response
 * that the contract declares was received. After a partial run, `checkCoverage` prints the number of received responses. If
 * `MANDATE_SEEN_RESPONSES` is set to a file path, the names of received responses are appended to this file, so that the results of several
 * partial runs can be merged.
 */
export async function collectResponses(project: TestProject): Promise<{ checkCoverage: () => Promise<void> }> {
  const { path: directory, remove } = await (sharedDirectory ??= createServerDirectory());
  project.provide('seenResponses', directory);
  const [main] = project.vitest.projects;
  return {
    async checkCoverage() {
      if (project !== main) return;
      const seen = await readSeenResponses(directory);
      const outputFile = process.env['MANDATE_SEEN_RESPONSES'];
      if (outputFile) await appendFile(outputFile, [...seen, ''].join('\n'));
      await remove();
      const missing = declaredResponseNames.filter((name) => !seen.has(name));
      const isComplete = await allTestsRan(project);
      const received = `${declaredResponseNames.length - missing.length} received${isComplete ? '' : ' in this partial run'}`;
      process.stdout.write(`API responses: ${declaredResponseNames.length} declared, ${received}\n`);
      if (isComplete && missing.length > 0) throw new Error(`no test received these declared responses:\n${missing.join('\n')}`);
    },
  };
}

async function readSeenResponses(directory: string): Promise<Set<string>> {
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
