import { glob, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterAll, describe, expect, test } from 'vitest';
import { createAdministratorAndDemonstrationShop } from '../../../server/first-run/create-administrator-and-demonstration-shop.ts';
import { storePasswordHash } from '../../../server/oauth/accounts/accounts-and-passwords.ts';
import { commonPasswordsFileUrl } from '../../../server/oauth/passwords/check-common-passwords.ts';
import { hashPassword } from '../../../server/oauth/passwords/hash-and-verify-password.ts';
import { hasActiveSession } from '../../support/oauth/account-pages.ts';
import { HttpBrowser, type HtmlPage } from '../../support/browser/browser.ts';
import { createMigratedDatabase, databaseKind } from '../../support/services/database.ts';
import { readMailLink } from '../../support/services/mailbox.ts';
import { signIn, signUp } from '../../support/oauth/oauth-flow.ts';
import { runMandateServer } from '../../support/server/server-command.ts';
import { runServerUntilExit, createDataDirectory } from '../../support/server/server-process.ts';
import { useServer } from '../../support/server/use-server.ts';

const server = useServer();
const name = 'Winifred Pemberton';

/** Each password rule, with a password that violates it and the error text that every entry point shows. */
const rules: readonly (readonly [string, string | ((email: string) => string), string])[] = [
  ['fewer than 12 characters', 'shortish 11', 'at least 12 characters'],
  ['more than 200 characters', 'correct horse battery '.repeat(10), 'at most 200 characters'],
  ['one repeated character', 'aaaaaaaaaaaa', 'does not consist mostly of repeated characters'],
  ['a repeated pattern', 'xkq7xkq7xkq7', 'does not consist mostly of repeated characters'],
  ['ascending letters', 'abcdefghijkl', 'not a sequence such as 12345678 or abcdefgh'],
  ['descending digits', '98765432109876', 'not a sequence such as 12345678 or abcdefgh'],
  ['two sequences', '12345678ABCDEFGH', 'not a sequence such as 12345678 or abcdefgh'],
  ['a keyboard row', 'qwertyuiop[]', 'is not a keyboard sequence such as qwertyuiop'],
  ['a descending keyboard row', 'poiuytrewqlkj', 'is not a keyboard sequence such as qwertyuiop'],
  ['a common password', 'password1234', 'This one is on public lists of common passwords'],
  ['a common password in another case', 'PassWord1234', 'This one is on public lists of common passwords'],
  ['two common passwords', 'sunshinemonkey', 'This one is just a common password with a few extra characters'],
  ['the name of the shop', 'grand MANDATE lamp', 'does not contain the name “Mandate”'],
  ['a part of the name of the user', 'velvet pemberton 9', 'does not contain your name'],
  ['the e-mail address', (email) => email.toUpperCase(), 'that is not your e-mail address'],
  ['a part of the e-mail address', 'quiet HAWTHORNE 9', 'does not contain any part of your e-mail address'],
];

/** `setPassword` attempts to set a password that is rejected, and returns the text shown to the user. */
type EntryPoint = { readonly email: string; readonly setPassword: (password: string) => Promise<string> };

const newEmail = (): string => `fred.hawthorne@${crypto.randomUUID()}.example`;
const newUser = () => signUp(server.origin, { name, email: newEmail() });

/**
 * Creates an entry point that submits a page's form. All rules are tested with the same page, because the server invalidates neither the
 * link nor the session when it rejects a password.
 */
function entryPointFromForm(browser: HttpBrowser, page: HtmlPage, email: string, fields: Record<string, string> = {}): EntryPoint {
  const setPassword = async (password: string): Promise<string> => {
    const { response, text } = await browser.submit(page, { ...fields, password });
    expect(response.status, text).toBe(400);
    return text;
  };
  return { email, setPassword };
}

async function entryPointFromMailedForm(path: string, email: string, fields: Record<string, string> = {}): Promise<EntryPoint> {
  const browser = new HttpBrowser(server.origin);
  await browser.submit(await browser.open(path), { email });
  return entryPointFromForm(browser, await browser.open(await readMailLink(server.origin, email)), email, fields);
}

async function accountPageEntryPoint(): Promise<EntryPoint> {
  const { browser, email } = await newUser();
  return entryPointFromForm(browser, await browser.open('/account/password'), email);
}

async function createAdministratorEntryPoint(): Promise<EntryPoint> {
  const email = newEmail();
  const setPassword = async (password: string): Promise<string> => {
    await using data = await createDataDirectory();
    const argv = ['admin', 'create', '--email', email, '--name', name];
    const { code, stdout, stderr } = await runMandateServer({ MANDATE_DATA_DIR: data.path }, argv, `${password}\n`);
    expect([code, stdout, stderr]).toEqual([1, '', expect.stringContaining('No account was created')]);
    return stderr;
  };
  return { email, setPassword };
}

async function firstStartEntryPoint(): Promise<EntryPoint> {
  const db = await createMigratedDatabase();
  openDatabases.push(db);
  const email = newEmail();
  const setPassword = async (password: string): Promise<string> => {
    const installation = { production: true, dataDirectory: '/nonexistent', issuer: server.origin, administrator: { email, password } };
    const message = await createAdministratorAndDemonstrationShop(db, installation, new Date()).catch(String);
    expect(await db.em.fork().execute('select id from users')).toEqual([]);
    expect(message).toContain('MANDATE_ADMIN_PASSWORD was rejected, and no administrator was created');
    return message;
  };
  return { email, setPassword };
}

const openDatabases: { close(): Promise<void> }[] = [];
afterAll(async () => {
  for (const db of openDatabases) await db.close();
});

/** Entry points for setting a password, keyed by the file that hashes the password. */
const entryPoints: Readonly<Record<string, () => Promise<EntryPoint>>> = {
  'server/command/create-administrator-command.ts': createAdministratorEntryPoint,
  'server/first-run/create-administrator-and-demonstration-shop.ts': firstStartEntryPoint,
  'server/oauth/pages/handlers/account/change-password.ts': accountPageEntryPoint,
  'server/oauth/pages/handlers/sign-in/reset-password.ts': async () => entryPointFromMailedForm('/password-reset', (await newUser()).email),
  'server/oauth/pages/handlers/sign-in/sign-up.ts': () => entryPointFromMailedForm('/sign-up', newEmail(), { name }),
};

// the command is tested only on PostgreSQL, because it rejects a password before it opens a database
const tested = Object.entries(entryPoints).filter(([file]) => databaseKind === 'postgresql' || !file.startsWith('server/command/'));

describe.each(tested)('%s', { timeout: 60_000 }, (file, start) => {
  let started: Promise<EntryPoint> | undefined;
  // on first start, the configuration contains an e-mail address and a password, but no user name
  const applicable = rules.filter(([rule]) => !(file.includes('first-run') && rule === 'a part of the name of the user'));

  test.each(applicable)('rejects %s and states the reason', async (_rule, password, reason) => {
    started ??= start();
    const { email, setPassword } = await started;
    expect(await setPassword(typeof password === 'string' ? password : password(email))).toContain(reason);
  });
});

describe('the table of entry points', () => {
  const filesMatching = async (pattern: RegExp): Promise<string[]> => {
    const root = join(import.meta.dirname, '../../..');
    const files: string[] = [];
    for await (const file of glob('server/**/*.ts', { cwd: root, exclude: (path) => path.includes('node_modules') }))
      if (pattern.test(await readFile(join(root, file), 'utf8'))) files.push(file);
    return files.toSorted();
  };

  test('contains each caller of validateAndHashNewPassword', async () => {
    const declaringFile = 'server/oauth/pages/handlers/sign-in/validate-and-hash-new-password.ts';
    expect((await filesMatching(/\bvalidateAndHashNewPassword\(/)).filter((file) => file !== declaringFile)).toEqual(
      Object.keys(entryPoints),
    );
  });

  test('is complete, because no other file hashes a password or stores a hash', async () => {
    expect(await filesMatching(/import[^;]*\bhashPassword\b|hashPassword\(/)).toEqual([
      // replaces the imported hash of a password that the user already has
      'server/oauth/accounts/accounts-and-passwords.ts',
      'server/oauth/pages/handlers/sign-in/validate-and-hash-new-password.ts',
      'server/oauth/passwords/hash-and-verify-password.ts',
    ]);
    expect(await filesMatching(/(create|insert|upsert|update)\w*\(StoredPasswordHash\b|(insert into|update) passwords\b/i)).toEqual([
      'server/oauth/accounts/accounts-and-passwords.ts',
      // stores hashes from another system, without knowing the passwords
      'server/user-imports/import-user-batch.ts',
    ]);
  });
});

test('the list of common passwords has at least 100,000 entries', async () => {
  const lines = gunzipSync(await readFile(commonPasswordsFileUrl))
    .toString()
    .toLowerCase()
    .split('\n');
  expect(new Set(lines).size).toBeGreaterThan(100_000);
});

test.each([
  'correct horse battery',
  'purple tree house',
  'x7kq-2m9p-zw44-abcd',
  'Zoë’s café at noon',
  '68692774180946609786',
  'correct horse battery correct horse battery',
])('the password rules accept %s', async (password) => {
  const { browser } = await newUser();
  const changed = await browser.submit(await browser.open('/account/password'), { password });
  expect(changed.text).toContain('Your password has been changed');
});

test('a user with an old password that breaks the rules can still sign in', async () => {
  const user = await newUser();
  await storePasswordHash(server.db.em.fork(), user.id, await hashPassword('password1234'), new Date());
  expect(await hasActiveSession(await signIn(server.origin, { email: user.email, password: 'password1234' }))).toBe(true);
});

test('the server does not start with a rejected MANDATE_ADMIN_PASSWORD, and states the reason', { timeout: 60_000 }, async () => {
  await using data = await createDataDirectory();
  const admin = { MANDATE_ADMIN_EMAIL: 'ada@example.com', MANDATE_ADMIN_PASSWORD: 'password1234' };
  const { code, output } = await runServerUntilExit({ MANDATE_DATA_DIR: data.path, ...admin });
  expect(code).toBe(1);
  expect(output).toContain('MANDATE_ADMIN_PASSWORD was rejected, and no administrator was created. Choose a less common password');
  expect(output).not.toContain('password1234');
});
