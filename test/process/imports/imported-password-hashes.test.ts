import { readFile } from 'node:fs/promises';
import { scopeNames } from '@mandate/contract';
import { beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { HttpBrowser } from '../../support/browser/browser.ts';
import { isAccountPage, submitPassword, wrongCredentials } from '../../support/oauth/sign-in-attempts.ts';
import { withShop } from '../../support/shop/with-shop.ts';
import { importUsers } from '../../api/user-imports/start-user-import.ts';

/** Password hashes that create-password-hash-vectors.py created with other implementations. */
const { password, hashes } = z
  .object({ password: z.string(), hashes: z.record(z.string()) })
  .parse(JSON.parse(await readFile(new URL('password-hash-vectors.json', import.meta.url), 'utf8')));
const vectors = Object.entries(hashes).map(([name, hash], index) => ({ name, hash, email: `vector${index}@example.com` }));
/** Schemes whose hashes are wrapped in argon2id during the import, because passwords could be found quickly if the hashes were stolen. */
const weak = /SHA-1|salted SHA|SHA-256 in|phpass|with little memory|with a low cost|with few iterations|PBKDF2-SHA1|Magento SHA-256/;

const shop = withShop();
const administrator = shop.admin(scopeNames);
const readStoredHash = async (email: string): Promise<string> => {
  const sql = 'select hash from passwords join users on users.id = user_id where email = ?';
  const [row] = await shop.db.em.fork().execute<{ hash: string }[]>(sql, [email]);
  return row?.hash ?? '';
};

beforeAll(async () => {
  const lines = vectors.map(({ name, hash, email }) => JSON.stringify({ email, name, password_hash: hash, email_verified: true }));
  const { counts, remarks } = await importUsers(shop, administrator, lines.join('\n'), {}, 'application/x-ndjson');
  if (remarks.length > 0 || counts.created !== vectors.length) throw new Error(JSON.stringify(remarks));
});

const isWeak = ({ name }: { readonly name: string }): boolean => weak.test(name);
test.each(vectors.filter((vector) => !isWeak(vector)))('$name is stored unchanged', async ({ hash, email }) => {
  expect(await readStoredHash(email)).toBe(`imported:${hash}`);
});

test.each(vectors.filter(isWeak))('$name is wrapped in argon2id, and its digest is not stored', async ({ hash, email }) => {
  const stored = await readStoredHash(email);
  expect(stored).toMatch(/^wrapped:\{"scheme":\{.*"argon2id":"\$argon2id\$v=19\$/);
  expect(stored).not.toContain(hash.slice(-20));
});

describe.each(vectors)('$name', ({ email }) => {
  test('is verified at the first sign-in, and replaced by argon2id', async () => {
    const changedAt = async () =>
      shop.db.em.fork().execute('select changed_at from passwords join users on id = user_id where email = ?', [email]);
    const before = await changedAt();
    expect((await submitPassword(shop, { email, password: `${password}!` })).response.status).toBe(400);
    expect(await readStoredHash(email)).toMatch(/^(?:imported|wrapped):/);
    expect(isAccountPage(await submitPassword(shop, { email, password }))).toBe(true);
    expect(await readStoredHash(email)).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
    expect(await changedAt()).toEqual(before);
  });
});

test('the new hash accepts the password, and no other password', async () => {
  const [{ email } = { email: '' }] = vectors;
  expect(isAccountPage(await submitPassword(shop, { email, password }))).toBe(true);
  expect((await submitPassword(shop, { email, password: 'wrong' })).response.status).toBe(400);
});

test('an imported hash does not bypass the limit on attempts', async () => {
  const email = 'attacked@example.com';
  const row = JSON.stringify({ email, name: 'A', password_hash: hashes['SHA-1 of Django'] });
  await importUsers(shop, administrator, row, {}, 'application/x-ndjson');
  const browser = new HttpBrowser(shop.origin);
  for (let attempt = 0; attempt < 10; attempt += 1) await submitPassword(shop, wrongCredentials(email), browser);
  expect((await submitPassword(shop, { email, password }, browser)).response.status).toBe(429);
  expect(await readStoredHash(email)).toMatch(/^wrapped:/);
});

test('a suspended imported user cannot sign in', async () => {
  const email = 'suspended@example.com';
  const row = JSON.stringify({ email, name: 'S', status: 'suspended', password_hash: hashes['SHA-1 of Django'] });
  await importUsers(shop, administrator, row, {}, 'application/x-ndjson');
  expect((await submitPassword(shop, { email, password })).response.status).toBe(400);
});
