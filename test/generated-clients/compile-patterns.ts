/**
 * `npm run clients:patterns` compiles the patterns of the OpenAPI document in Python, Go and Java, and checks that they match the same
 * samples as in JavaScript. A language that is not installed is skipped.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createOpenApiDocument } from '@mandate/contract/openapi';
import { listDocumentPatterns } from '../support/contract/document-patterns.ts';
import { run } from './run-command.ts';

const directory = import.meta.dirname;
const commands: readonly (readonly [name: string, command: string, ...words: string[]])[] = [
  ['Python', 'python3', join(directory, 'python', 'compile_patterns.py')],
  ['Go', 'go', 'run', join(directory, 'go', 'compile_patterns.go')],
  ['Java', 'java', join(directory, 'java', 'CompilePatterns.java')],
];
const printLine = (line: string): void => void process.stdout.write(`${line}\n`);
const encode = (texts: readonly string[]): string => texts.map((text) => Buffer.from(text).toString('base64')).join(' ');

/** Samples that each match at least one pattern, and similar samples that do not match this pattern. */
const samples = [
  ['ann@example.com', 'ann p@example.com', 'a\u0007b@example.com', '[ann]@example.com', 'pc{}@example.com', 'ann@example'],
  ['collection', 'Collection', 'GBP', 'gbp', 'GB', 'Z', '+02:00', '+15:00', '2026-11-20', '2026-13-01', '2026-11', '1'],
  ['Europe/London', 'example.csv', 'my-client_2', '#2f6f4f', '#2F6F4F', '#fff', 'tok_1:a.b', 'SKU 1', ' SKU', 'de', 'pt-BR', 'x'],
  ['evt_7', 'https://shop.example/help?topic=1#orders', 'https://user@shop.example', 'https://a b', 'data:image/png;base64,iVBORw0='],
  ['https://', `https://${'x'.repeat(1992)}`, `https://${'x'.repeat(1993)}`, 'office-supplies', 'a--b'],
].flat();

const patterns = listDocumentPatterns(createOpenApiDocument('https://mandate.example'));
const expected = patterns.map((pattern) => samples.map((sample) => (new RegExp(pattern).test(sample) ? '1' : '0')).join(''));
const folder = await mkdtemp(join(tmpdir(), 'mandate-patterns-'));
try {
  const file = join(folder, 'patterns.txt');
  await writeFile(file, `${encode(patterns)}\n${encode(samples)}`);
  for (const [name, command, ...words] of commands) {
    const output = await run(command, [...words, file]).catch((error: unknown) => {
      if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
      throw error;
    });
    const results = output?.trimEnd().split('\n');
    const differences = patterns.filter((_, index) => results && results[index] !== expected[index]);
    for (const pattern of differences) printLine(`${name}: ${pattern}: ${results?.[patterns.indexOf(pattern)] ?? ''}`);
    printLine(results ? `${name}: ${patterns.length} patterns, ${differences.length} differences` : `${name}: not installed`);
    if (differences.length > 0) process.exitCode = 1;
  }
} finally {
  await rm(folder, { recursive: true });
}
