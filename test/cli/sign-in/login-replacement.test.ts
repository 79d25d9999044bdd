import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { commandSpecs } from '../../../cli/contract-commands/commands.gen.ts';
import { signUp, signUpWithRole, type TestUser } from '../../support/oauth/oauth-flow.ts';
import { useServer } from '../../support/server/use-server.ts';
import { createConfigDirectory, runInProcess, type CommandOutcome } from '../run-command-line.ts';

const server = useServer();

type Home = Awaited<ReturnType<typeof createConfigDirectory>>;
const envOf = (home: Home, more: Record<string, string> = {}) => ({
  MANDATE_API_URL: server.origin,
  MANDATE_CONFIG_DIR: home.path,
  ...more,
});

/** Runs `mandate login` and confirms the sign-in in the user's browser. `decision` contains the consent page's form fields. */
async function login(
  home: Home,
  { browser }: Pick<TestUser, 'browser'>,
  argv: readonly string[] = [],
  decision: Record<string, string | readonly string[]> = { decision: 'allow' },
): Promise<CommandOutcome> {
  let output = '';
  const { promise, resolve } = Promise.withResolvers<string>();
  const outcome = runInProcess(['login', '--no-browser', '--storage', 'file', ...argv], {
    env: envOf(home),
    onStderr: (text) => {
      output += text;
      const url = /^http\S+\/authorize\?\S+$/m.exec(output)?.[0];
      if (url !== undefined) resolve(url);
    },
  });
  const url = await Promise.race([promise, outcome.then(({ stderr }) => Promise.reject(new Error(stderr)))]);
  const { externalRedirect: leaves } = await browser.submit(await browser.open(url), decision);
  if (leaves) await fetch(leaves);
  return outcome;
}

const readCredential = async (home: Home, profile = 'default') => JSON.parse(await readFile(home.file, 'utf8'))[profile];
const runCommand = (home: Home, ...argv: string[]): Promise<CommandOutcome> => runInProcess(argv, { env: envOf(home) });
/** Returns the number of grants that this user has given to the CLI client. */
const countGrants = async ({ id }: TestUser): Promise<number> =>
  (
    await server.db.em
      .fork()
      .execute<object[]>(`select 1 from oauth_records where model = 'Grant' and account_id = ? and client_id = 'mandate-cli'`, [String(id)])
  ).length;

describe('a sign-in that lacks a requested scope', () => {
  test('exits with code 5, names the scope and the user, and keeps the previous sign-in', async () => {
    await using home = await createConfigDirectory();
    const anna = await signUp(server.origin);
    expect((await login(home, anna)).exitCode).toBe(0);
    const [before, grants] = [await readCredential(home), await countGrants(anna)];
    const { exitCode, stdout, stderr } = await login(home, anna, ['--scopes', '+users.administer']);
    expect({ exitCode, stdout }).toEqual({ exitCode: 5, stdout: '' });
    expect(stderr).toContain(`error: Not granted by ${anna.email}: users.administer. Profile default keeps its previous sign-in.`);
    expect(stderr).toContain(
      'hint: Sign in again, and select the permission in the browser, or choose "Use another account" if your account cannot grant it: mandate login --scopes +users.administer\n',
    );
    expect(await readCredential(home)).toEqual(before);
    expect((await runCommand(home, 'orders', 'list')).exitCode).toBe(0);
    expect(await countGrants(anna)).toBe(grants); // the new grant has been revoked
  });

  test('exits with code 5 without a previous sign-in too, and stores the sign-in with the granted scopes', async () => {
    await using home = await createConfigDirectory();
    const anna = await signUp(server.origin);
    const { exitCode, stderr } = await login(home, anna, ['--scopes', 'users.read,orders.manage']);
    expect({ exitCode, stderr }).toMatchObject({
      exitCode: 5,
      stderr: expect.stringContaining(`Not granted by ${anna.email}: orders.manage. The other scopes were granted.`),
    });
    expect((await runCommand(home, 'whoami', '--get', 'email')).stdout).toBe(`${anna.email}\n`);
  });

  test('exits with code 5 if staff do not select an administrative scope, and succeeds once they select it', async () => {
    await using home = await createConfigDirectory();
    const boss = await signUpWithRole(server.db, server.origin, 'admin');
    expect((await login(home, boss)).exitCode).toBe(0);
    const preselected = ['users.read', 'orders.read', 'orders.write', 'payments.read', 'payments.write'];
    const unselected = await login(home, boss, ['--scopes', '+orders.manage'], { decision: 'allow', scope: preselected });
    expect(unselected).toMatchObject({
      exitCode: 5,
      stderr: expect.stringContaining('Sign in again, and select the permission in the browser'),
    });
    const selected = { decision: 'allow', scope: [...preselected, 'orders.manage'] };
    expect((await login(home, boss, ['--scopes', '+orders.manage'], selected)).exitCode).toBe(0);
    expect((await readCredential(home)).scopes).toEqual(expect.arrayContaining(['orders.manage']));
  });

  test('replaces a previous sign-in that is no longer valid', async () => {
    await using home = await createConfigDirectory();
    const anna = await signUp(server.origin);
    await login(home, anna);
    await server.db.em.fork().execute(`delete from oauth_records where account_id = ? and model <> 'Session'`, [String(anna.id)]);
    expect((await login(home, anna, ['--scopes', '+orders.manage'])).exitCode).toBe(5);
    expect((await runCommand(home, 'orders', 'list')).exitCode).toBe(0);
  });

  test('replaces a sign-in of the same user with fewer scopes, but not one of another user', async () => {
    await using home = await createConfigDirectory();
    const [anna, ben] = [await signUp(server.origin), await signUp(server.origin)];
    await login(home, anna, ['--scopes', 'users.read']);
    const ticked = { decision: 'allow', scope: ['users.read', 'orders.read'] };
    const better = await login(home, anna, [], ticked);
    expect(better).toMatchObject({
      exitCode: 0,
      stderr: expect.stringContaining('Not granted: orders.write payments.read payments.write'),
    });
    const before = await readCredential(home);
    expect(before.scopes).toEqual(expect.arrayContaining(['users.read', 'orders.read']));
    expect((await login(home, anna, [], ticked)).exitCode).toBe(5);
    const everything = { decision: 'allow', scope: ['users.read', 'orders.read', 'orders.write'] };
    expect((await login(home, ben, [], everything)).exitCode).toBe(5);
    expect((await readCredential(home)).user).toEqual(before.user);
    expect((await login(home, ben)).exitCode).toBe(0);
    expect((await readCredential(home)).user.email).toBe(ben.email);
  });

  test('succeeds with another account', async () => {
    await using home = await createConfigDirectory();
    const [anna, boss] = [await signUp(server.origin), await signUpWithRole(server.db, server.origin, 'admin')];
    await login(home, anna);
    expect((await login(home, boss, ['--scopes', '+users.administer'])).exitCode).toBe(0);
    expect(await readCredential(home)).toMatchObject({ user: { email: boss.email }, scopes: expect.arrayContaining(['users.administer']) });
  });
});

test('the default sign-in has the scopes to pay and to run every command in the README', async () => {
  await using home = await createConfigDirectory();
  expect((await login(home, await signUp(server.origin))).exitCode).toBe(0);
  const { scopes } = await readCredential(home);
  expect(scopes).toEqual(expect.arrayContaining(['payments.read', 'payments.write']));
  const readme = await readFile(join(import.meta.dirname, '../../../README.md'), 'utf8');
  const commands = [...readme.matchAll(/^npx mandate (\S+) ([a-z-]+)/gm)].map(([, group, name]) => ({ group, name }));
  expect(commands).toContainEqual({ group: 'orders', name: 'create' });
  const refused = commandSpecs.filter(
    (spec) =>
      commands.some(({ group, name }) => group === spec.group && name === spec.name) &&
      spec.scopes.length > 0 &&
      !spec.scopes.some((scope) => scopes.includes(scope)),
  );
  expect(refused.map(({ operationId }) => operationId)).toEqual([]);
});

describe('a hint contains the profile of the command', () => {
  const profiles: [string, string[], Record<string, string>, string][] = [
    ['chosen by a flag', ['--profile', 'work'], {}, 'mandate login --profile work'],
    ['chosen by the environment', [], { MANDATE_PROFILE: 'work' }, 'mandate login --profile work'],
    ['unless it is the default profile', [], {}, 'mandate login'],
  ];

  test.each(profiles)('%s', async (_, flags, more, command) => {
    await using home = await createConfigDirectory();
    const env = envOf(home, more);
    const { exitCode, stderr } = await runInProcess(['orders', 'list', ...flags], { env });
    expect({ exitCode, stderr }).toEqual({ exitCode: 4, stderr: expect.stringMatching(new RegExp(`hint: Sign in with: ${command}\\n`)) });
    expect((await runInProcess(['auth', 'status', ...flags], { env })).stderr).toContain(`Sign in with: ${command}\n`);
  });

  test('chosen with "mandate profile use" or overridden by a flag', async () => {
    await using home = await createConfigDirectory();
    const env = envOf(home);
    await runInProcess(['profile', 'create', 'work', '--api-url', server.origin], { env });
    await runInProcess(['profile', 'use', 'work'], { env });
    expect((await runInProcess(['orders', 'list'], { env })).stderr).toContain('hint: Sign in with: mandate login --profile work\n');
    expect((await runInProcess(['orders', 'list', '--profile', 'default'], { env })).stderr).toContain('mandate login --profile default\n');
  });

  test('after a sign-in that lacks a scope', async () => {
    await using home = await createConfigDirectory();
    const anna = await signUp(server.origin);
    await login(home, anna, ['--profile', 'work']);
    const { exitCode, stderr } = await login(home, anna, ['--profile', 'work', '--scopes', '+orders.manage']);
    expect({ exitCode, stderr }).toMatchObject({
      exitCode: 5,
      stderr: expect.stringContaining('Profile work keeps its previous sign-in.'),
    });
    expect(stderr).toContain('mandate login --profile work --scopes +orders.manage\n');
    const listed = await runInProcess(['tasks', 'list', '--profile', 'work'], { env: envOf(home) });
    expect(listed).toMatchObject({ exitCode: 5, stderr: expect.stringContaining('mandate login --profile work --scopes +tasks.read') });
  });
});
