import { spawnSync } from 'node:child_process';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { formatSource } from '../support/format-source.ts';
import { copyServer } from '../support/server/simulated-next-release.ts';

const program = join(import.meta.dirname, '../../server/schema/create-migration.ts');
const createMigration = (...argv: readonly string[]) => spawnSync(process.execPath, [program, ...argv], { encoding: 'utf8' });

test('no migration is created if the entities have not changed', () => {
  expect(createMigration('add_nickname2')).toMatchObject({ status: 0, stdout: 'nothing to do\n' });
});

test.each([[[]], [['Add_nickname']], [['add-nickname']], [['2_nicknames']]])('the arguments %j are rejected', (argv) => {
  const { status, stdout, stderr } = createMigration(...argv);
  expect([status, stdout]).toEqual([1, '']);
  expect(stderr).toContain('usage: npm run migration -- name_in_snake_case');
});

test('a created migration contains only the change, and is formatted', async () => {
  await using copy = await copyServer();
  const entityFile = join(copy.directory, 'server/delivery-methods/delivery-method.entity.ts');
  const entity = await readFile(entityFile, 'utf8');
  await writeFile(
    entityFile,
    entity.replace(
      '    active:',
      "    estimatedDays: p.integer().nullable().check('estimated_days >= 0 and estimated_days <= 365'),\n    active:",
    ),
  );
  const migrations = join(copy.directory, 'server/database/migrations');
  const before = new Set(await readdir(migrations));
  const outcome = spawnSync('npm', ['run', 'migration', '--', 'estimated_days'], { cwd: copy.directory, encoding: 'utf8' });
  expect(outcome).toMatchObject({ status: 0, stdout: expect.stringContaining('add "estimated_days"') });
  const [created = '', ...others] = (await readdir(migrations)).filter((file) => !before.has(file));
  expect([created, others]).toEqual([expect.stringMatching(/^\d{14}_estimated_days\.ts$/), []]);
  const source = await readFile(join(migrations, created), 'utf8');
  expect(new Set(source.match(/alter table "(\w+)"/g))).toEqual(new Set(['alter table "delivery_methods"']));
  expect(await formatSource(source)).toBe(source);
}, 120_000);
