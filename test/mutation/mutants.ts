import { globSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Logger, LoggerFactoryMethod } from '@stryker-mutator/api/logging';
import { commonTokens } from '@stryker-mutator/api/plugin';
import { createInstrumenter } from '@stryker-mutator/instrumenter';
import * as fc from 'fast-check';
import { createInjector } from 'typed-inject';
import type { Mutant } from './mutant.ts';
import { sqlMutations } from './sql-mutations.ts';

type Position = { readonly line: number; readonly column: number };

const silent = (): void => undefined;
const notEnabled = (): boolean => false;
const logger: Logger = {
  isTraceEnabled: notEnabled,
  isDebugEnabled: notEnabled,
  isInfoEnabled: notEnabled,
  isWarnEnabled: notEnabled,
  isErrorEnabled: notEnabled,
  isFatalEnabled: notEnabled,
  trace: silent,
  debug: silent,
  info: silent,
  warn: silent,
  error: silent,
  fatal: silent,
};
const getLogger: LoggerFactoryMethod = () => logger;

/** Excludes migrations, because they run only once on each database, and only on databases that older versions created. */
const isMutated = (file: string): boolean => !file.includes('node_modules') && !file.includes('/migrations/') && !file.endsWith('.gen.ts');

/**
 * Lists all mutants of `server/`: those that StrykerJS creates, and our own changes to SQL text, which StrykerJS can only replace with an
 * empty string. Mutants that empty a string are excluded, because most of these strings are messages, or SQL statements that always fail
 * when empty.
 */
export async function listMutants(root: string): Promise<readonly Mutant[]> {
  const files = globSync('server/**/*.ts', { cwd: root }).filter(isMutated).toSorted();
  const sources = await Promise.all(files.map(async (name) => ({ name, content: await readFile(join(root, name), 'utf8'), mutate: true })));
  const instrumenter = createInjector()
    .provideValue(commonTokens.logger, logger)
    .provideValue(commonTokens.getLogger, getLogger)
    .injectFunction(createInstrumenter);
  const options = { plugins: null, ignorers: [], excludedMutations: ['StringLiteral'], noHeader: true };
  const { mutants } = await instrumenter.instrument(sources, options);
  const contentOf = new Map(sources.map(({ name, content }) => [name, content]));
  const ofStryker = mutants
    .filter(({ status }) => status === undefined)
    .map(({ fileName, location, mutatorName, replacement }) => {
      const content = contentOf.get(fileName) ?? '';
      const [start, end] = [offsetOf(content, location.start), offsetOf(content, location.end)];
      return {
        file: fileName,
        line: location.start.line + 1,
        operator: mutatorName,
        start,
        end,
        before: content.slice(start, end),
        after: replacement,
      };
    });
  return [...ofStryker, ...sources.flatMap(({ name, content }) => sqlMutations(name, content))];
}

/** StrykerJS counts lines and columns from 0. */
function offsetOf(content: string, { line, column }: Position): number {
  let start = 0;
  for (let passed = 0; passed < line; passed += 1) start = content.indexOf('\n', start) + 1;
  return start + column;
}

/** Draws a random sample of `count` mutants. The same seed and source always result in the same sample. */
export function drawMutants(mutants: readonly Mutant[], count: number, seed: number): readonly Mutant[] {
  const length = Math.min(count, mutants.length);
  const [sample = []] = fc.sample(fc.shuffledSubarray([...mutants], { minLength: length, maxLength: length }), { seed, numRuns: 1 });
  return sample;
}
