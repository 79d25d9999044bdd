import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const program = join(import.meta.dirname, '../../server/schema/create-migration.ts');
const createMigration = (...argv: readonly string[]) => spawnSync(process.execPath, [program, ...argv], { encoding: 'utf8' });

test('without a change of the entities, no migration is created', () => {
  expect(createMigration('add_nickname2')).toMatchObject({ status: 0, stdout: 'nothing to do\n' });
});

test.each([[[]], [['Add_nickname']], [['add-nickname']], [['2_nicknames']]])('the arguments %j are rejected', (argv) => {
  const { status, stdout, stderr } = createMigration(...argv);
  expect([status, stdout]).toEqual([1, '']);
  expect(stderr).toContain('usage: npm run migration -- name_in_snake_case');
});
