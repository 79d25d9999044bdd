/**
 * `npm run clients:patterns` compiles the patterns of the OpenAPI document in Python, Go and Java, and checks that they match the same
 * samples as in JavaScript. A language that is not installed is skipped.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createOpenApiDocument } from '@mandate/contract/openapi';
import { listDocumentPatterns } from '../support/contract/document-patterns.ts';
import { findPatternDifferences, formatPatternsInput } from '../support/contract/pattern-samples.ts';
import { run } from './run-command.ts';

const directory = import.meta.dirname;
const commands: readonly (readonly [name: string, command: string, ...words: string[]])[] = [
  ['Python', 'python3', join(directory, 'python', 'compile_patterns.py')],
  ['Go', 'go', 'run', join(directory, 'go', 'compile_patterns.go')],
  ['Java', 'java', join(directory, 'java', 'CompilePatterns.java')],
];
const printLine = (line: string): void => void process.stdout.write(`${line}\n`);

const patterns = listDocumentPatterns(createOpenApiDocument('https://mandate.example'));
const folder = await mkdtemp(join(tmpdir(), 'mandate-patterns-'));
try {
  const file = join(folder, 'patterns.txt');
  await writeFile(file, formatPatternsInput(patterns));
  for (const [name, command, ...words] of commands) {
    const output = await run(command, [...words, file]).catch((error: unknown) => {
      if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
      throw error;
    });
    const differences = output === undefined ? [] : findPatternDifferences(patterns, output);
    for (const difference of differences) printLine(`${name}: ${difference}`);
    printLine(output === undefined ? `${name}: not installed` : `${name}: ${patterns.length} patterns, ${differences.length} differences`);
    if (differences.length > 0) process.exitCode = 1;
  }
} finally {
  await rm(folder, { recursive: true });
}
