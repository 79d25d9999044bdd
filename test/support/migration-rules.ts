import type { Database } from '../../server/database/entity-manager/entity-manager-type.ts';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';

const directory = join(import.meta.dirname, '../../server/database/migrations');

export type ParsedMigration = {
  readonly name: string;
  readonly statements: readonly string[];
  /** Whether the migration runs in a transaction. */
  readonly transactional: boolean;
  /** The first release that no longer uses the objects that the migration drops. */
  readonly unusedSince?: string | undefined;
};

type Migration = { up(): unknown; getQueries(): readonly unknown[]; isTransactional(): boolean };
const isMigration = (value: unknown): value is Migration => typeof value === 'object' && value !== null && 'getQueries' in value;

/** Returns the SQL statements of all migrations, in order. */
export async function readMigrations({ driver, config }: Database): Promise<ParsedMigration[]> {
  const files = (await readdir(directory)).filter((file) => file.endsWith('.ts')).toSorted();
  const migrations: ParsedMigration[] = [];
  for (const file of files) {
    const module: object = await import(join(directory, file));
    for (const declaration of Object.values(module)) {
      const migration: unknown = new declaration(driver, config);
      if (!isMigration(migration)) continue;
      await migration.up();
      migrations.push({
        name: file.replace(/\.ts$/, ''),
        statements: migration.getQueries().map(String),
        transactional: migration.isTransactional(),
        unusedSince: 'unusedSince' in declaration ? String(declaration.unusedSince) : undefined,
      });
    }
  }
  return migrations;
}

export function listCreatedTables({ statements }: Pick<ParsedMigration, 'statements'>): string[] {
  return statements.flatMap((sql) => [...sql.matchAll(/\bcreate table (?:if not exists )?"?(\w+)"?/gi)].map(([, name = '']) => name));
}

/** Statements on existing tables that conflict with running processes from the previous release, each with the reason. */
const unsafeStatements: readonly (readonly [RegExp, string])[] = [
  [/\brename\b/, 'renames an object: add the new object, fill it, and drop the old object in a later release'],
  [/\balter (column )?\S+ (set data )?type\b/, 'changes a type, which rewrites the whole table: add a new column instead'],
  [/\bset not null\b/, 'requires a value: add a check as not valid, and validate it in a separate migration'],
  [
    /\badd (column )?(?!constraint)\S+ (?!.*\bdefault\b).*\bnot null\b/,
    'adds a required column that processes of the previous release omit',
  ],
  [/\badd constraint .*\b(check|foreign key)\b(?!.*\bnot valid\b)/, 'scans the whole table under an exclusive lock: add it as not valid'],
  [
    /\badd constraint .*\b(unique|primary key)\b(?!.*\busing index\b)/,
    'builds an index under an exclusive lock: create the index concurrently first',
  ],
  [/\bcreate (unique )?index (?!concurrently)/, 'builds an index while writes are blocked: create the index concurrently'],
];

const missingUnusedSince = 'drops an object: specify in `unusedSince` the first release that does not use it';

/** Statements that are safe only if the previous release no longer uses the object that they drop. */
const dropStatement = /\bdrop (table|column|function|view|type|schema)\b/;

/**
 * Returns the reasons why processes from this release and the previous one cannot use the same tables after the migration.
 * @param existing tables that exist before the migration
 */
export function findMigrationFaults(migration: ParsedMigration, existing: readonly string[]): string[] {
  const statements = migration.statements.map((sql) =>
    sql
      .toLowerCase()
      .replaceAll(/'(?:[^']|'')*'/g, "''")
      .replaceAll('"', ''),
  );
  const findExistingTables = (sql: string): string[] => existing.filter((table) => new RegExp(`\\b${table}\\b`).test(sql));
  const faults = statements.flatMap((sql) => {
    if (findExistingTables(sql).length === 0) return dropStatement.test(sql) && !migration.unusedSince ? [missingUnusedSince] : [];
    const reasons = unsafeStatements.filter(([pattern]) => pattern.test(sql)).map(([, reason]) => reason);
    return dropStatement.test(sql) && !migration.unusedSince ? [...reasons, missingUnusedSince] : reasons;
  });
  const tables = new Set(statements.flatMap(findExistingTables));
  if (tables.size > 1)
    faults.push(`changes ${[...tables].join(' and ')} in one transaction, which can deadlock with requests: write one migration per table`);
  const concurrent = statements.some((sql) => /\bconcurrently\b/.test(sql));
  if (concurrent && (migration.transactional || statements.length > 1))
    faults.push('creates an index concurrently: put the statement alone into a migration without a transaction');
  return faults;
}
