import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';

const server = join(import.meta.dirname, '../../server');

/**
 * The only file that assigns an e-mail address. `changeEmailAddressNotifyAndAudit` and account closure call methods of this entity. A MikroORM hook
 * rejects all other assignments of an e-mail address at run time.
 */
const allowed = ['users/user.entity.ts'];

const objectWithEmail = String.raw`\{[^{}]*\bemail\b[^{}]*\}`;

/** Patterns for code that writes an existing user's `users.email`. */
const writers: readonly (readonly [string, RegExp])[] = [
  ['an update statement', /\bupdate\s+(?:only\s+)?"?users"?\b[^'`;]*?\bset\b(?:(?!\bwhere\b|\bfrom\b|\breturning\b)[^`;])*?\bemail"?\s*=/i],
  ['an upsert', /\binsert\s+into\s+"?users"?\b[^`;]*?\bdo\s+update\s+set\b[^`;]*?\bemail"?\s*=/i],
  ['an assignment', /(?:^|[;{})]|=>)\s*[\w$.]+\.email\s*=(?!=)/m],
  ['Object.assign', new RegExp(String.raw`\bObject\.assign\([^(){}]*,\s*${objectWithEmail}`)],
  ['the entity manager', new RegExp(String.raw`\.assign\([^(){}]*,\s*${objectWithEmail}`)],
  ['a bulk update', new RegExp(String.raw`\b(?:nativeUpdate|upsert|upsertMany|updateMany)\(\s*User\b`)],
  ['the query builder', /createQueryBuilder\(\s*User\b[^;]*\.update\(/],
  ['the method of the entity', /\.replaceEmailAddress\(/],
];

const writersIn = (source: string): string[] => writers.filter(([, pattern]) => pattern.test(source)).map(([name]) => name);

test('only changeEmailAddressNotifyAndAudit writes the e-mail address of an existing user', async () => {
  const files = (await readdir(server, { recursive: true })).filter(
    (file) => /\.(ts|sql)$/.test(file) && !file.includes('node_modules') && !allowed.includes(file),
  );
  expect(files.length).toBeGreaterThan(200);
  const found = await Promise.all(files.map(async (file) => [file, writersIn(await readFile(join(server, file), 'utf8'))] as const));
  expect(found.filter(([, names]) => names.length > 0)).toEqual([
    ['users/change-email-address-or-mark-verified.ts', ['the method of the entity']],
  ]);
});

describe('the patterns', () => {
  test.each([
    ['`update users set email = $2, version = version + 1 where id = $1`', 'an update statement'],
    ['"update users u set name = ?, email = ? where id = ?"', 'an update statement'],
    ['`insert into users (id, email) values ($1, $2) on conflict (id) do update set email = excluded.email`', 'an upsert'],
    ['user.email = email;', 'an assignment'],
    ['if (email !== undefined) owner.user.email = email;', 'an assignment'],
    ['Object.assign(user, { name, email, role });', 'Object.assign'],
    ['em.assign(user, { email: input.email });', 'the entity manager'],
    ['await em.nativeUpdate(User, { id }, { email });', 'a bulk update'],
    ['em.createQueryBuilder(User).update({ email }).where({ id })', 'the query builder'],
    ['user.replaceEmailAddress(email, true);', 'the method of the entity'],
  ])('match %s', (source, writer) => {
    expect(writersIn(source)).toContain(writer);
  });

  test.each([
    '`update users set name = $2 where email = $1`',
    '`insert into users (name, email) values ($1, $2) returning id`',
    'if (address.data === account.email) return;',
    '`select 1 from users u\n where u.id = links.user_id and u.email = links.email`',
    'Object.assign(user, { name, role });',
  ])('do not match %s', (source) => {
    expect(writersIn(source)).toEqual([]);
  });
});
