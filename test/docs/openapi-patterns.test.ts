import { createOpenApi30Document, createOpenApiDocument } from '@mandate/contract/openapi';
import { expect, test } from 'vitest';
import { findUnportableSyntax, listDocumentPatterns } from '../support/contract/document-patterns.ts';

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
