/** The server uses MikroORM. SQL remains only where MikroORM lacks a feature, or where a benchmark justifies SQL. */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';

const root = join(import.meta.dirname, '../..');

/** Maximum number of SQL statements in the counted files. */
const maxStatements = 60;
const excluded: readonly RegExp[] = [
  /^server\/node_modules\//,
  /^server\/database\/migrations\//,
  // statements that open, check and configure a connection
  /^server\/database\/connection\//,
  // functions that send the statements that other files define
  /^server\/database\/queries\/(?:batched-statement|dynamic-query|prepare-batch-deletion-of-expired-rows|prepared-statement)\.ts$/,
];

type Statement = { readonly file: string; readonly line: number; readonly hasReason: boolean };

const typeArguments = String.raw`(?:<(?:[^<>]|<(?:[^<>]|<[^<>]*>)*>)*>)?`;
/**
 * Matches calls with SQL text as an argument, and properties that contain SQL text. `execute` without an argument runs a query from the
 * query builder.
 */
const statementPattern = new RegExp(
  [
    String.raw`\b(?:prepare(?:Statement|DeferredWrite)|prepareBatchedLookupStatement|prepareBatchedListStatement|prepareBatchDeletionOfExpiredRows|runPreparedDynamicQuery)${typeArguments}\(`,
    String.raw`\.execute${typeArguments}\(\s*(?!\)|'(?:all|get|run)'|\s)`,
    String.raw`\.executeQuery${typeArguments}\(`,
    String.raw`\btext:\s*['"\x60]\s*(?:select|insert|update|delete|with|listen|notify|checkpoint|analyze|set|lock)\b`,
  ].join('|'),
  'g',
);
/** Other signs of a statement: literals that begin like a statement, and the function that builds statements from fragments. */
const sqlTextPatterns: readonly RegExp[] = [
  /['"`]\s*(?:select\s|insert into\s|delete from\s|update\s+\w+\s+(?:\w+\s+)?set\s|with\s+(?:recursive\s+)?\w+\s+(?:\([\w\s,]*\)\s+)?as\s|lock table\s|listen\s|truncate\s|declare\s+\w+[\w\s]*\scursor\s|set local\s)/,
  /\bimport\s*\{[^}]*\bsql\b[^}]*\}\s*from\s*'kysely'/,
  /\bCompiledQuery\b/,
];

/** Replaces comments with spaces, so that positions are unchanged. */
const withoutComments = (source: string): string =>
  source.replaceAll(/\/\*[\s\S]*?\*\/|(?<=^|[\s;,{(])\/\/[^\n]*/g, (comment) => comment.replaceAll(/[^\n]/g, ' '));

const lineOf = (source: string, index: number): number => source.slice(0, index).split('\n').length;

const reasonPattern = /\/\/ Written in SQL (?:because|for the same reason)\b/;

/**
 * Returns whether a comment explains why the statement at this line is written in SQL. The comment is above the top-level declaration that
 * contains the line, or in the declaration before the line.
 */
function hasReason(source: string, line: number): boolean {
  const lines = source.split('\n');
  const isDeclaration = (text: string): boolean => /^(?:export|const|let|function|async|class)\b/.test(text);
  const isComment = (text: string): boolean => /^(?:\/\/|\/\*| \*)/.test(text);
  let start = line - 1;
  while (start > 0 && !isDeclaration(lines[start] ?? '')) start -= 1;
  while (start > 0 && isComment(lines[start - 1] ?? '')) start -= 1;
  return reasonPattern.test(lines.slice(start, line).join('\n'));
}

const isSqlFile = (file: string): boolean => file.endsWith('.sql.ts') || file.endsWith('.sql');

/** Returns the statements in a source file. A `.sql` file counts as one statement. */
function findStatements(file: string, source: string): Statement[] {
  if (file.endsWith('.sql')) return [{ file, line: 1, hasReason: /^-- Written in SQL because\b/m.test(source) }];
  const code = withoutComments(source);
  const patterns = isSqlFile(file) ? [statementPattern] : [statementPattern, ...sqlTextPatterns.map((each) => new RegExp(each, 'g'))];
  const found = patterns.flatMap((pattern) => [...code.matchAll(pattern)].map(({ index }) => lineOf(code, index)));
  return [...new Set(found)].map((line) => ({ file, line, hasReason: hasReason(source, line) }));
}

const describeStatement = ({ file, line }: Statement): string => `${file}:${line}`;

/** Returns the statements that are in the wrong kind of file, lack a stated reason, or exceed the maximum number. */
function findViolations(statements: readonly Statement[], max: number): Record<'outside' | 'unexplained' | 'excess', string[]> {
  const allowed = statements.filter(({ file }) => isSqlFile(file));
  return {
    outside: statements.filter(({ file }) => !isSqlFile(file)).map(describeStatement),
    unexplained: allowed.filter((statement) => !statement.hasReason).map(describeStatement),
    excess: statements.slice(max).map(describeStatement),
  };
}

const files = globSync('server/**/*.{ts,sql}', { cwd: root })
  .filter((file) => !excluded.some((pattern) => pattern.test(file)))
  .toSorted();
const statements = files.flatMap((file) => findStatements(file, readFileSync(join(root, file), 'utf8')));

test('SQL statements are in .sql.ts files, have a stated reason, and are not more than the maximum', () => {
  expect(files.length).toBeGreaterThan(250);
  expect(statements.length).toBeGreaterThan(20);
  expect(findViolations(statements, maxStatements)).toEqual({ outside: [], unexplained: [], excess: [] });
});

describe('a planted statement is found', () => {
  test.each([
    [`const findOrder = prepareStatement<Row<{ id: number }>>(\n  'find_order',\n  'select 1',\n);`],
    [`const insertRow = prepareDeferredWrite('insert_row', text);`],
    [`const read = prepareBatchedLookupStatement<Row>('read_row', ['bigint'], text);`],
    [`const remove = prepareBatchDeletionOfExpiredRows({ table: 'sessions', key: 'id', isExpired: condition });`],
    ['return runPreparedDynamicQuery(em, query);'],
    [`await em.execute('analyze');`],
    [`await em.getConnection().execute(text, [id], 'run');`],
    ['const rows = await query.execute(em.getKysely());'],
    ['await em.execute<{ count: number }[]>(countSql);'],
    ['await connection.executeQuery(compiled);'],
    ['const listText = `\n  select id from orders`;'],
    [`const text = 'update orders set status = $1';`],
    ["const query = 'with recent as (select 1)';"],
    [`import { type RawBuilder, sql } from 'kysely';`],
    [`client.query({ text: 'checkpoint' });`],
  ])('outside a .sql.ts file: %s', (source) => {
    const planted = findStatements('server/orders/planted.ts', source);
    expect(findViolations(planted, maxStatements).outside).toContain('server/orders/planted.ts:1');
  });

  const statement = `export const findOrder = prepareStatement(\n  'find_order',\n  'select 1',\n);\n`;

  test.each([
    ['without a comment', statement],
    ['with a comment that is not a reason', `// Finds an order.\n${statement}`],
    ['after a statement with a reason', `// Written in SQL because MikroORM has no lateral joins.\n${statement}\n${statement}`],
  ])('without a reason: %s', (_, source) => {
    const planted = findStatements('server/orders/planted.sql.ts', source);
    expect(findViolations(planted, maxStatements).unexplained).toHaveLength(1);
  });

  test('above the limit', () => {
    const planted = findStatements(
      'server/orders/planted.sql.ts',
      `// Written in SQL because MikroORM has no lateral joins.\n${statement}`,
    );
    expect(findViolations([...statements, ...planted], statements.length)).toEqual({
      outside: [],
      unexplained: [],
      excess: ['server/orders/planted.sql.ts:2'],
    });
  });
});

test.each([
  [`await em.createQueryBuilder(Order).select('id').where({ id }).execute();`],
  [`const rows = await query.execute<Row[]>('all', { mapResults: false });`],
  [`await em.nativeUpdate(Order, { id }, { version: raw('version + 1') });`],
  [`// like prepareStatement('find_order', 'select 1')\nconst value = 1;`],
  [`const detail = 'Select a product with em.execute()';`],
  [`import type { DatabaseConnection } from 'kysely';`],
])('is not a statement: %s', (source) => {
  expect(findStatements('server/orders/planted.ts', source)).toEqual([]);
});
