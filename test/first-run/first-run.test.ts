import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Database } from '../../server/database/entity-manager/entity-manager-type.ts';
import { scopeNames, scopeDefinitions } from '@mandate/contract';
import { readFirstRunCredentialsOfThisDatabase } from '../../server/first-run/first-run-credentials-file.ts';
import { formatWelcomeMessage } from '../../server/first-run/format-welcome-message.ts';
import { createAdministratorAndDemonstrationShop } from '../../server/first-run/create-administrator-and-demonstration-shop.ts';
import { verifyPasswordByEmailAndRehash } from '../../server/oauth/accounts/accounts-and-passwords.ts';
import { databaseKind, createMigratedDatabase } from '../support/services/database.ts';

let db: Database;
let dataDirectory: string;
beforeEach(async () => {
  db = await createMigratedDatabase();
  dataDirectory = await mkdtemp(join(tmpdir(), 'mandate-first-run-'));
});
afterEach(async () => {
  await db.close();
  await rm(dataDirectory, { recursive: true });
});

const issuer = 'http://localhost:3000';
const startInstallation = (
  changes: Partial<Parameters<typeof createAdministratorAndDemonstrationShop>[1]> = {},
): ReturnType<typeof createAdministratorAndDemonstrationShop> =>
  createAdministratorAndDemonstrationShop(
    db,
    { production: false, dataDirectory, issuer, administrator: undefined, ...changes },
    new Date(),
  );
const readInstalledFirstRunFile = (): ReturnType<typeof readFirstRunCredentialsOfThisDatabase> =>
  readFirstRunCredentialsOfThisDatabase(db.em.fork(), dataDirectory);

async function count(table: 'users' | 'products' | 'product_stock' | 'delivery_methods' | 'applications'): Promise<number> {
  const [row] = await db.em.fork().execute<{ count: number }[]>(`select count(*)::int as count from ${table}`);
  return row?.count ?? -1;
}

describe('the first start in development', () => {
  test('creates accounts that can sign in, applications and a demonstration shop', async () => {
    expect(await startInstallation()).toBe('prepared');
    const firstRunFile = await readInstalledFirstRunFile();
    expect(firstRunFile).toMatchObject({ issuer, api: `${issuer}/api/v1`, administrator: { email: 'admin@example.com' } });
    for (const account of [firstRunFile?.administrator, firstRunFile?.customer]) {
      expect(await verifyPasswordByEmailAndRehash(db.em.fork(), account?.email ?? '', account?.password ?? '')).toEqual({
        matches: true,
        accountId: expect.any(Number),
      });
    }
    expect(firstRunFile?.applications.demonstration.scopes).toEqual(
      scopeNames.filter((scope) => !scopeDefinitions[scope].admin && scope !== 'approvals.decide'),
    );
    expect(firstRunFile?.applications.administration.scopes).not.toContain('approvals.decide');
    expect(firstRunFile?.applications.administration.scopes).toContain('orders.manage');
    expect([await count('users'), await count('products'), await count('product_stock'), await count('delivery_methods')]).toEqual([
      2, 200, 200, 3,
    ]);
  });

  test('makes the first-run file readable only by its owner', async () => {
    await startInstallation();
    expect((await stat(join(dataDirectory, 'first-run.json'))).mode & 0o777).toBe(0o600);
  });

  test('creates the administrator from the configuration', async () => {
    await startInstallation({ administrator: { email: 'ada@example.com', password: 'correct horse battery' } });
    expect(await verifyPasswordByEmailAndRehash(db.em.fork(), 'ada@example.com', 'correct horse battery')).toMatchObject({ matches: true });
  });
});

describe('the second start', () => {
  test('changes nothing', async () => {
    await startInstallation();
    const before = await readFile(join(dataDirectory, 'first-run.json'), 'utf8');
    expect(await startInstallation()).toBe('in use');
    expect(await readFile(join(dataDirectory, 'first-run.json'), 'utf8')).toBe(before);
    expect(await count('users')).toBe(2);
  });

  test('ignores a damaged first-run file', async () => {
    await startInstallation();
    await writeFile(join(dataDirectory, 'first-run.json'), '{ "administrator":');
    expect(await startInstallation()).toBe('in use');
    expect(await readInstalledFirstRunFile()).toBeUndefined();
  });

  test.skipIf(databaseKind === 'pglite')('waits for a concurrent first start and then changes nothing', async () => {
    const outcomes = await Promise.all([startInstallation(), startInstallation(), startInstallation(), startInstallation()]);
    expect(outcomes.toSorted()).toEqual(['in use', 'in use', 'in use', 'prepared']);
    expect(await count('users')).toBe(2);
    expect(await readInstalledFirstRunFile()).toBeDefined();
  });
});

describe('a failed first start', () => {
  test('changes nothing if the file cannot be written, and the next start succeeds', async () => {
    await writeFile(join(dataDirectory, 'a-file'), '');
    await expect(startInstallation({ dataDirectory: join(dataDirectory, 'a-file') })).rejects.toThrow('EEXIST');
    expect([await count('users'), await count('products'), await count('applications')]).toEqual([0, 0, 0]);
    expect(await startInstallation()).toBe('prepared');
  });

  test('whose commit fails leaves a file that is ignored, and the next start writes a valid file', async () => {
    const em = db.em.fork();
    await em.execute(`create function refuse() returns trigger language plpgsql as $$ begin raise exception 'no commit'; end $$`);
    await em.execute(
      `create constraint trigger refuse after insert on users deferrable initially deferred for each row execute function refuse()`,
    );
    await expect(startInstallation()).rejects.toThrow('no commit');
    expect(await readFile(join(dataDirectory, 'first-run.json'), 'utf8')).toContain('administrator');
    expect(await readInstalledFirstRunFile()).toBeUndefined();
    await em.execute('drop trigger refuse on users');
    expect(await startInstallation()).toBe('prepared');
    expect(await readInstalledFirstRunFile()).toBeDefined();
  });
});

describe('in production', () => {
  test('the first start creates only the administrator from the configuration', async () => {
    expect(
      await startInstallation({ production: true, administrator: { email: 'ada@example.com', password: 'correct horse battery' } }),
    ).toBe('prepared');
    expect([await count('users'), await count('products'), await count('applications'), await count('delivery_methods')]).toEqual([
      1, 0, 0, 0,
    ]);
    await expect(stat(join(dataDirectory, 'first-run.json'))).rejects.toThrow('ENOENT');
  });

  test('a start without a configured administrator reports that none exists', async () => {
    expect(await startInstallation({ production: true })).toBe('without administrator');
    expect(await count('users')).toBe(0);
  });
});

describe('the welcome message', () => {
  test('shows the account and the next command', async () => {
    await startInstallation();
    const firstRunFile = await readInstalledFirstRunFile();
    const text = formatWelcomeMessage(issuer, firstRunFile, 'data/first-run.json');
    expect(text).toContain(`${issuer}/openapi.json`);
    expect(text).toContain(firstRunFile?.customer.password);
    expect(text).toContain('npx mandate login\n');
  });

  test('contains the URL if it is not the default URL', () => {
    expect(formatWelcomeMessage('http://localhost:8080', undefined, 'data/first-run.json')).toContain(
      'npx mandate login --api-url http://localhost:8080\n',
    );
  });
});
