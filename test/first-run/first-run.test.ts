import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Database } from '../../server/database/entity-manager/entity-manager.ts';
import { scopeNames, scopeDefinitions } from '@mandate/contract';
import { readFirstRunFile } from '../../server/first-run/first-run-file.ts';
import { formatWelcomeMessage } from '../../server/first-run/welcome-message.ts';
import { prepareInstallation } from '../../server/first-run/prepare-installation.ts';
import { verifyEmailAndPassword } from '../../server/oauth/accounts/account-store.ts';
import { databaseKind, freshDatabase } from '../support/services/database.ts';

let db: Database;
let dataDirectory: string;
beforeEach(async () => {
  db = await freshDatabase();
  dataDirectory = await mkdtemp(join(tmpdir(), 'mandate-first-run-'));
});
afterEach(async () => {
  await db.close();
  await rm(dataDirectory, { recursive: true });
});

const issuer = 'http://localhost:3000';
const start = (changes: Partial<Parameters<typeof prepareInstallation>[1]> = {}): ReturnType<typeof prepareInstallation> =>
  prepareInstallation(db, { production: false, dataDirectory, issuer, administrator: undefined, ...changes }, new Date());
const file = (): ReturnType<typeof readFirstRunFile> => readFirstRunFile(db.em.fork(), dataDirectory);

async function count(table: 'users' | 'products' | 'product_stock' | 'delivery_methods' | 'applications'): Promise<number> {
  const [row] = await db.em.fork().execute<{ count: number }[]>(`select count(*)::int as count from ${table}`);
  return row?.count ?? -1;
}

describe('the first start in development', () => {
  test('makes accounts that can sign in, applications and a shop', async () => {
    expect(await start()).toBe('prepared');
    const made = await file();
    expect(made).toMatchObject({ issuer, api: `${issuer}/api/v1`, administrator: { email: 'admin@example.com' } });
    for (const account of [made?.administrator, made?.customer]) {
      expect(await verifyEmailAndPassword(db.em.fork(), account?.email ?? '', account?.password ?? '')).toEqual({
        matches: true,
        accountId: expect.any(Number),
      });
    }
    expect(made?.applications.demonstration.scopes).toEqual(scopeNames.filter((scope) => !scopeDefinitions[scope].admin));
    expect(made?.applications.administration.scopes).toContain('orders.manage');
    expect([await count('users'), await count('products'), await count('product_stock'), await count('delivery_methods')]).toEqual([
      2, 200, 200, 3,
    ]);
  });

  test('leaves what it made up readable by its owner alone', async () => {
    await start();
    expect((await stat(join(dataDirectory, 'first-run.json'))).mode & 0o777).toBe(0o600);
  });

  test('takes the administrator that the configuration names', async () => {
    await start({ administrator: { email: 'ada@example.com', password: 'correct horse battery' } });
    expect(await verifyEmailAndPassword(db.em.fork(), 'ada@example.com', 'correct horse battery')).toMatchObject({ matches: true });
  });
});

describe('the second start', () => {
  test('changes nothing', async () => {
    await start();
    const before = await readFile(join(dataDirectory, 'first-run.json'), 'utf8');
    expect(await start()).toBe('in use');
    expect(await readFile(join(dataDirectory, 'first-run.json'), 'utf8')).toBe(before);
    expect(await count('users')).toBe(2);
  });

  test('goes on without a file that somebody broke', async () => {
    await start();
    await writeFile(join(dataDirectory, 'first-run.json'), '{ "administrator":');
    expect(await start()).toBe('in use');
    expect(await file()).toBeUndefined();
  });

  test.skipIf(databaseKind === 'pglite')('at the same time as the first waits and then changes nothing', async () => {
    const outcomes = await Promise.all([start(), start(), start(), start()]);
    expect(outcomes.toSorted()).toEqual(['in use', 'in use', 'in use', 'prepared']);
    expect(await count('users')).toBe(2);
    expect(await file()).toBeDefined();
  });
});

describe('a first start that does not come to its end', () => {
  test('leaves nothing behind when the file cannot be written, and the next one does it', async () => {
    await writeFile(join(dataDirectory, 'a-file'), '');
    await expect(start({ dataDirectory: join(dataDirectory, 'a-file') })).rejects.toThrow('EEXIST');
    expect([await count('users'), await count('products'), await count('applications')]).toEqual([0, 0, 0]);
    expect(await start()).toBe('prepared');
  });

  test('leaves no file that speaks for the database when the commit fails, and the next one writes one that does', async () => {
    const em = db.em.fork();
    await em.execute(`create function refuse() returns trigger language plpgsql as $$ begin raise exception 'no commit'; end $$`);
    await em.execute(
      `create constraint trigger refuse after insert on users deferrable initially deferred for each row execute function refuse()`,
    );
    await expect(start()).rejects.toThrow('no commit');
    expect(await readFile(join(dataDirectory, 'first-run.json'), 'utf8')).toContain('administrator');
    expect(await file()).toBeUndefined();
    await em.execute('drop trigger refuse on users');
    expect(await start()).toBe('prepared');
    expect(await file()).toBeDefined();
  });
});

describe('in production', () => {
  test('the first start makes the administrator of the configuration and nothing else', async () => {
    expect(await start({ production: true, administrator: { email: 'ada@example.com', password: 'correct horse battery' } })).toBe(
      'prepared',
    );
    expect([await count('users'), await count('products'), await count('applications'), await count('delivery_methods')]).toEqual([
      1, 0, 0, 0,
    ]);
    await expect(stat(join(dataDirectory, 'first-run.json'))).rejects.toThrow('ENOENT');
  });

  test('says that there is no administrator while none was named', async () => {
    expect(await start({ production: true })).toBe('without administrator');
    expect(await count('users')).toBe(0);
  });
});

describe('the greeting', () => {
  test('shows the account and the next command', async () => {
    await start();
    const made = await file();
    const text = formatWelcomeMessage(issuer, made, 'data/first-run.json');
    expect(text).toContain(`${issuer}/openapi.json`);
    expect(text).toContain(made?.customer.password);
    expect(text).toContain('npx mandate login\n');
  });

  test('names the address when it is not the usual one', () => {
    expect(formatWelcomeMessage('http://localhost:8080', undefined, 'data/first-run.json')).toContain(
      'npx mandate login --api-url http://localhost:8080\n',
    );
  });
});
