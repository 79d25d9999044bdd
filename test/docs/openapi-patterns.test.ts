import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { createOpenApi30Document, createOpenApiDocument } from '@mandate/contract/openapi';
import { describe, expect, onTestFinished, test } from 'vitest';
import { findUnportableSyntax, listDocumentPatterns } from '../support/contract/document-patterns.ts';
import { findPatternDifferences, formatPatternsInput } from '../support/contract/pattern-samples.ts';
import { hasPythonModule, python } from '../support/python.ts';

const origin = 'https://shop.example';

test.each([
  ['version 1', createOpenApiDocument(origin)],
  ['version 2', createOpenApiDocument(origin, 'v2')],
  ['OpenAPI 3.0', createOpenApi30Document(origin)],
])('all patterns of the document of %s compile in Python, Java, Go and JavaScript without flags', (_, document) => {
  const patterns = listDocumentPatterns(document);
  expect(patterns.length).toBeGreaterThan(15);
  expect(patterns.flatMap((pattern) => findUnportableSyntax(pattern).map((reason) => `${pattern}: ${reason}`))).toEqual([]);
});

describe.skipIf(!hasPythonModule('re'))('in Python', () => {
  const compileInPython = async (patterns: readonly string[]): Promise<string> => {
    const directory = await mkdtemp(join(tmpdir(), 'mandate-patterns-'));
    onTestFinished(() => rm(directory, { recursive: true }));
    const file = join(directory, 'patterns.txt');
    await writeFile(file, formatPatternsInput(patterns));
    const program = join(import.meta.dirname, '../generated-clients/python/compile_patterns.py');
    return (await promisify(execFile)(python, [program, file])).stdout;
  };

  test('all patterns compile, and match the same strings as in JavaScript', async () => {
    const patterns = listDocumentPatterns(createOpenApiDocument(origin));
    expect(findPatternDifferences(patterns, await compileInPython(patterns))).toEqual([]);
  });

  test('a pattern that does not compile, or matches other strings, is found', async () => {
    const patterns = ['^[a-z]+$', String.raw`^(?<first>[a-z])$`, '^[^x]$|^de\\Z'];
    const differences = findPatternDifferences(patterns, await compileInPython(patterns));
    expect(differences).toEqual([expect.stringContaining('unknown extension ?<f'), expect.stringContaining(String.raw`de\Z: `)]);
  });
});

test.each([
  String.raw`^[^\p{Cc}]+$`,
  String.raw`^[^\u0000]+$`,
  '^(?=a)b$',
  '^(?<!a)b$',
  String.raw`^(a)\1$`,
  '^(?<name>a)$',
  '^a++$',
  String.raw`^[^@[\\]+$`,
  '^[a&&b]$',
  '^.{1,1992}$',
  '^.{1001}$',
  '^(a$',
])('%s is found', (pattern) => {
  expect(findUnportableSyntax(pattern)).toEqual([expect.any(String)]);
});

test.each(['^[a-z]{2,8}(-[a-z]{1,8})*$', String.raw`^[^\s"@\[\\\]\x00-\x1f]+$`, '^.{1,1000}$', String.raw`^(?:\d{4}-\d{2})?$`])(
  '%s is portable',
  (pattern) => {
    expect(findUnportableSyntax(pattern)).toEqual([]);
  },
);
