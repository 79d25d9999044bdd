import type { Database } from '../../server/database/entity-manager/entity-manager.ts';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';

const directory = join(import.meta.dirname, '../../server/database/migrations');

export type MigrationText = {
  readonly name: string;
  readonly statements: readonly string[];
  /** Within one transaction. */
  readonly transactional: boolean;
  /** The release since which nothing uses what it takes away. */
  readonly unusedSince?: string | undefined;
};

type Migration = { up(): unknown; getQueries(): readonly unknown[]; isTransactional(): boolean };
const isMigration = (value: unknown): value is Migration => typeof value === 'object' && value !== null && 'getQueries' in value;

/** Every migration, in their order. */
export async function readMigrations({ driver, config }: Database): Promise<MigrationText[]> {
  const files = (await readdir(directory)).filter((file) => file.endsWith('.ts')).toSorted();
  const texts: MigrationText[] = [];
  for (const file of files) {
    const module: object = await import(join(directory, file));
    for (const made of Object.values(module)) {
      const migration: unknown = new made(driver, config);
      if (!isMigration(migration)) continue;
      await migration.up();
      texts.push({
        name: file.replace(/\.ts$/, ''),
        statements: migration.getQueries().map(String),
        transactional: migration.isTransactional(),
        unusedSince: 'unusedSince' in made ? String(made.unusedSince) : undefined,
      });
    }
  }
  return texts;
}

export function tablesMadeBy({ statements }: Pick<MigrationText, 'statements'>): string[] {
  return statements.flatMap((sql) => [...sql.matchAll(/\bcreate table (?:if not exists )?"?(\w+)"?/gi)].map(([, name = '']) => name));
}

/** What does not go while processes of the release before run: of a statement about a table that they use. */
const notNow: readonly (readonly [RegExp, string])[] = [
  [/\brename\b/, 'renames: add the new one, fill it, and remove the old one in a later release'],
  [/\balter (column )?\S+ (set data )?type\b/, 'changes a type, which writes the whole table anew: add a column beside it'],
  [/\bset not null\b/, 'demands a value: add a check that is not valid, and validate it in a migration of its own'],
  [/\badd (column )?(?!constraint)\S+ (?!.*\bdefault\b).*\bnot null\b/, 'adds a column that processes of the release before leave out'],
  [/\badd constraint .*\b(check|foreign key)\b(?!.*\bnot valid\b)/, 'reads the whole table while nobody else may: add it as not valid'],
  [
    /\badd constraint .*\b(unique|primary key)\b(?!.*\busing index\b)/,
    'builds an index while nobody else may: create it concurrently before',
  ],
  [/\bcreate (unique )?index (?!concurrently)/, 'builds an index while nobody may write: create it concurrently'],
];

/** What goes when nothing of the release before uses it. */
const whenUnused = /\bdrop (table|column|function|view|type|schema)\b/;

/** Why processes of this release and of the one before could not live on the same tables. `existing`: those that were there before. */
export function faultsOfMigration(migration: MigrationText, existing: readonly string[]): string[] {
  const plain = migration.statements.map((sql) =>
    sql
      .toLowerCase()
      .replaceAll(/'(?:[^']|'')*'/g, "''")
      .replaceAll('"', ''),
  );
  const touched = (sql: string): string[] => existing.filter((table) => new RegExp(`\\b${table}\\b`).test(sql));
  const faults = plain.flatMap((sql) => {
    if (touched(sql).length === 0)
      return whenUnused.test(sql) && !migration.unusedSince ? ['removes something: say since which release nothing uses it'] : [];
    const found = notNow.filter(([pattern]) => pattern.test(sql)).map(([, why]) => why);
    return whenUnused.test(sql) && !migration.unusedSince
      ? [...found, 'removes something: say since which release nothing uses it']
      : found;
  });
  const tables = new Set(plain.flatMap(touched));
  if (tables.size > 1)
    faults.push(`has ${[...tables].join(' and ')} at once, and could wait for a request that waits for it: write a migration for each`);
  const concurrent = plain.some((sql) => /\bconcurrently\b/.test(sql));
  if (concurrent && (migration.transactional || plain.length > 1))
    faults.push('creates an index concurrently: that goes alone, and in no transaction');
  return faults;
}
