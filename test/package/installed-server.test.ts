/** Installs the packed server in an empty directory outside the repository, and uses it as a new user would. */
import { existsSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, readdir, readFile, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { buildCommandLineProgram } from '../../server/command/build-command-line-program.ts';
import { formatWelcomeMessage } from '../../server/first-run/format-welcome-message.ts';
import { findFreePort } from '../support/network/free-port.ts';
import { killServerProcesses, readFirstRunFile, startServerProcess, type ServerProcess } from '../support/server/server-process.ts';
import {
  createEmptyProject,
  installPackages,
  listFiles,
  measureInstalledSize,
  npmEnvironment,
  packWorkspaces,
  repositoryRoot,
  runNpm,
  runProgram,
  type Tarballs,
} from './pack-and-install.ts';
import { installedCommand, orderWithInstalledClient, orderWithInstalledCommand, signInWithInstalledCommand } from './sign-in-and-order.ts';
import { previousReleaseBackup } from './previous-release.ts';

const maxInstalledMegabytes = 152;
/** Returns the names of the migrations that a command's output reports as applied or pending. */
const findMigrations = (output: string, state: 'applied' | 'pending'): string[] =>
  Array.from(output.matchAll(new RegExp(`^${state} {2}(\\d{14}_\\w+)`, 'gm')), ([, name = '']) => name);

type CommandTree = { readonly commands: readonly (CommandTree & { name(): string })[] };

/** Returns the names of all commands that have no subcommands, such as `keys rotate`. */
const listCommands = ({ commands }: CommandTree, parent = ''): string[] =>
  commands.flatMap((command) =>
    command.commands.length > 0 ? listCommands(command, `${command.name()} `) : [`${parent}${command.name()}`],
  );

/** Matches repository files that the packages contain at a different path or do not need. */
const notPackaged = /\.ts$|^(contract|server)\/(LICENSE|README\.md|package\.json|baseline\/.*)$/;

describe.skipIf(process.env['MANDATE_PACKAGE_TESTS'] !== '1')('the published server', { timeout: 180_000 }, () => {
  let directory: string;
  let project: string;
  let tarballs: Tarballs;
  const server = (): string => join(project, 'node_modules/@mandate/server/bin/mandate-server.js');
  const mandateServer = (argv: readonly string[], env: Record<string, string> = {}, node = process.execPath) =>
    runProgram(node, [server(), ...argv], { cwd: project, env });
  const start = (env: Record<string, string> = {}, node = process.execPath): Promise<ServerProcess> =>
    startServerProcess(env, [server()], { executable: node, directory: project });

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'mandate-installed-'));
    tarballs = await packWorkspaces();
    project = await createEmptyProject(join(directory, 'project'), [tarballs.contract, tarballs.server]);
  }, 600_000);
  afterAll(async () => {
    await killServerProcesses();
    await rm(directory, { recursive: true, force: true });
  });

  test(`takes less than ${maxInstalledMegabytes} MB, as the README states`, async () => {
    const size = await measureInstalledSize(project);
    process.stdout.write(`installed server: ${size.toFixed(1)} MB\n`);
    expect(size).toBeLessThan(maxInstalledMegabytes);
    const stated = Number(
      /The installed server takes up about (\d+) MB/.exec(await readFile(join(repositoryRoot, 'README.md'), 'utf8'))?.[1],
    );
    expect(Math.abs(stated - size)).toBeLessThan(size / 10);
  });

  test('contains every file that the code reads, a licence, and a declaration and source map for each module', async () => {
    for (const name of ['contract', 'server']) {
      const { stdout } = await runProgram('git', ['ls-files', name], { cwd: repositoryRoot });
      const assets = stdout
        .trim()
        .split('\n')
        .filter((file) => !notPackaged.test(file));
      const files = new Set(await listFiles(join(project, 'node_modules/@mandate', name)));
      const expected = assets.map((file) => file.slice(name.length + 1)).map((file) => (file.startsWith('bin/') ? file : `dist/${file}`));
      expect([...expected, 'LICENSE', 'README.md', 'package.json'].filter((file) => !files.has(file))).toEqual([]);
      const modules = [...files].filter((file) => files.has(`${file}.map`)).map((file) => file.replace(/\.js$/, ''));
      expect(modules.length).toBeGreaterThan(40);
      expect(modules.filter((file) => !files.has(`${file}.d.ts`))).toEqual([]);
      expect([...files].filter((file) => /(?<!\.d)\.ts$/.test(file))).toEqual([]);
    }
  });

  test('starts without a command and prints what `npm start` prints', async () => {
    const running = await start();
    const firstRun = JSON.parse(await readFile(join(project, 'data/first-run.json'), 'utf8'));
    const message = formatWelcomeMessage(running.url, firstRun, 'data/first-run.json').replaceAll('npx mandate', 'npx @mandate/cli');
    expect(running.output()).toContain(message);
    expect(running.output()).not.toMatch(/warning/i);
    expect(await running.stop()).toBe(0);
  });

  test('serves every page with its stylesheets, scripts and pictures, and the OpenAPI documents', async () => {
    const running = await start({ MANDATE_PREVIEW_VERSIONS: 'on' });
    const read = async (path: string): Promise<string> => {
      const response = await fetch(new URL(path, running.url));
      expect([path, response.status]).toEqual([path, 200]);
      return response.text();
    };
    for (const path of ['/favicon.ico', '/openapi.json', '/openapi-3.0.json', '/openapi-v2.json', '/problems/not_found']) await read(path);
    for (const page of ['/', '/sign-in', '/sign-up', '/docs', '/console']) {
      const html = await read(page);
      const assets = Array.from(html.matchAll(/<(?:link|script|img)\b[^>]*\b(?:href|src)="(\/[^"]+)"/g), ([, path = '']) => path);
      expect(assets.length).toBeGreaterThan(0);
      for (const asset of assets) await read(asset);
    }
    expect(await running.stop()).toBe(0);
  });

  test('caches compiled code next to the packages', async () => {
    await mandateServer(['--version']);
    expect((await readdir(join(project, 'node_modules/.cache/mandate'))).length).toBeGreaterThan(0);
  });

  describe('with the published client and command line', () => {
    beforeAll(() => installPackages(project, [tarballs['client-sdk'], tarballs.cli]), 180_000);

    test('accepts a sign-in, and orders from the command line and the client', async () => {
      const running = await start();
      const { customer, applications } = await readFirstRunFile(join(project, 'data'));
      await signInWithInstalledCommand(project, running.url, customer);
      const mandate = installedCommand(project, running.url);
      const first = await orderWithInstalledCommand(mandate);
      expect(await mandate('orders', 'pay', String(first.id), '--yes')).toMatchObject({ code: 0 });
      const second = await orderWithInstalledClient(project, running.url, applications.administration);
      const { stdout } = await mandate('orders', 'list', '--json');
      expect(JSON.parse(stdout).data.map(({ id, payment_status }: Record<string, unknown>) => [id, payment_status])).toEqual([
        [second.id, 'unpaid'],
        [first.id, 'paid'],
      ]);
      expect(await mandateServer(['backup', 'online.backup'])).toMatchObject({ code: 0 });
      expect(await running.stop()).toBe(0);
    });

    /** Commands that exit by themselves, each with its expected output. Other tests run the commands `start` and `restore`. */
    const commands: readonly (readonly [argv: readonly string[], output: RegExp])[] = [
      [['check'], /^ok +configuration/],
      [['migrate'], /^Nothing is pending\.$/m],
      [['migrate', '--status'], /^applied {2}\d{14}_/],
      [['keys', 'rotate'], /new signing keys have been published/],
      [['statistics', 'rebuild'], /^The order statistics were recalculated from the orders: [1-9]\d* rows\.$/m],
      [['admin', 'create', '--email', 'owner@example.com'], /owner@example\.com/],
      [['backup', 'offline.backup'], /offline\.backup/],
    ];
    test.each(commands)('runs %j', async (argv, expected) => {
      const input = argv[0] === 'admin' ? ['-c', `echo 'correct horse battery staple' | "$0" "$@"`] : ['-c', '"$0" "$@"'];
      const { code, stdout, stderr } = await runProgram('sh', [...input, process.execPath, server(), ...argv], { cwd: project });
      expect([code, stderr]).toEqual([0, expect.any(String)]);
      expect(stdout).toMatch(expected);
    });

    test("these tests run every command, and the package's README lists it", async () => {
      const existing = listCommands(buildCommandLineProgram(process, () => undefined));
      expect(existing.length).toBeGreaterThan(7);
      const tested = [...commands.map(([argv]) => argv.join(' ')), 'start', 'restore'];
      expect(existing.filter((name) => !tested.some((command) => `${command} `.startsWith(`${name} `)))).toEqual([]);
      const readme = await readFile(join(project, 'node_modules/@mandate/server/README.md'), 'utf8');
      expect(existing.filter((name) => !new RegExp(`\\| .*\`(?:mandate-server )?${name}\\b.* \\|`).test(readme))).toEqual([]);
    });

    describe('the data of the previous release', () => {
      const { file, secret, administrator, orders } = previousReleaseBackup;
      const restore = async (data: string): Promise<string> => {
        const { code, stdout, stderr } = await mandateServer(['restore', file], {
          MANDATE_DATA_DIR: join(project, data),
          MANDATE_SECRET: secret,
        });
        expect([code, stderr]).toEqual([0, expect.any(String)]);
        return stdout;
      };
      /** Starts the server, signs in with the old account, reads the old orders and places a new one. */
      const use = async (data: string): Promise<void> => {
        const running = await start({ MANDATE_DATA_DIR: join(project, data), MANDATE_SECRET: secret });
        await signInWithInstalledCommand(project, running.url, administrator, { options: ['--scopes', 'orders.read,orders.manage'] });
        const mandate = installedCommand(project, running.url);
        const readOrders = async (): Promise<unknown> => JSON.parse((await mandate('orders', 'list', '--json')).stdout).data;
        expect(await readOrders()).toMatchObject(orders);
        const placed = await orderWithInstalledCommand(mandate, ['--user-id', '2']);
        expect(await readOrders()).toMatchObject([{ id: placed.id, user_id: 2, status: 'pending' }, ...orders]);
        expect(await running.stop()).toBe(0);
      };

      let newer: string[];
      beforeAll(async () => {
        newer = findMigrations(await restore('upgraded'), 'applied');
      }, 180_000);

      test('can be restored from a backup into a new database, which is upgraded', async () => {
        expect(newer.length).toBeGreaterThan(0);
        await use('upgraded');
      });

      test('is upgraded in place when the server starts on its directory', async () => {
        // Without the newer migrations, the packed server creates the same data directory as the previous release.
        const folder = join(project, 'node_modules/@mandate/server/dist/database/migrations');
        const moveNewer = async (from: string, to: string): Promise<void> => {
          for (const name of newer) await rename(join(from, `${name}.js`), join(to, `${name}.js`));
        };
        const removed = await mkdtemp(join(directory, 'newer-migrations-'));
        await moveNewer(folder, removed);
        try {
          expect(findMigrations(await restore('in-place'), 'applied')).toEqual([]);
        } finally {
          await moveNewer(removed, folder);
        }
        const status = await mandateServer(['migrate', '--status'], {
          MANDATE_DATA_DIR: join(project, 'in-place'),
          MANDATE_SECRET: secret,
        });
        expect(findMigrations(status.stdout, 'pending')).toEqual(newer);
        await use('in-place');
      });
    });
  });

  test.each([
    [{ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9' }, /npm install @opentelemetry\/\S+ .*@opentelemetry\/sdk-trace@\S+$/],
    [{ REDIS_URL: 'redis://127.0.0.1:9' }, /npm install @redis\/client@\S+$/],
    [{ STRIPE_SECRET_KEY: 'sk_test_1', STRIPE_WEBHOOK_SECRET: 'whsec_1' }, /npm install stripe@\S+$/],
  ])('with %j, states in one line which optional packages to install', async (variables, command) => {
    const [name] = Object.keys(variables);
    const { code, stderr } = await mandateServer(['start'], { PORT: String(await findFreePort()), ...variables });
    const messages = stderr.split('\n').filter((line) => line !== '' && !line.startsWith('{'));
    expect([code, messages]).toEqual([1, [expect.stringMatching(command)]]);
    expect(messages[0]).toContain(`Mandate cannot start. ${name} requires packages that are not installed.`);
  });

  test('starts in an empty folder with npx and the name of its package', async () => {
    expect(await runNpm('npx', ['--offline', '@mandate/server', '--version'], project)).toMatchObject({ code: 0, stdout: '0.1.0\n' });
    const empty = join(directory, 'empty');
    await mkdir(empty);
    // npx installs the packed files, because the packages are not published.
    const argv = ['--yes', '--package', tarballs.contract, '--package', tarballs.server, 'mandate-server'];
    const running = await startServerProcess(npmEnvironment(), argv, { executable: 'npx', directory: empty });
    expect(running.output()).toContain('Mandate is running.');
    expect((await fetch(`${running.url}/readyz`)).status).toBe(200);
    expect(await readdir(empty)).toEqual(['data']);
    await running.stop();
  });

  test('runs if another user has installed it globally', async () => {
    const prefix = join(directory, 'global');
    const globally = ['install', '--global', '--prefix', prefix, '--no-audit', '--no-fund', '--prefer-offline'];
    expect(await runNpm('npm', [...globally, tarballs.contract, tarballs.server], directory)).toMatchObject({ code: 0 });
    const home = join(directory, 'home');
    await mkdir(home);
    for (const path of [directory, home]) await chmod(path, path === home ? 0o777 : 0o755);
    const isRoot = process.getuid?.() === 0;
    if (!isRoot) await runProgram('chmod', ['--recursive', 'a-w', prefix], { cwd: directory });
    const account = isRoot ? { uid: 65_534, gid: 65_534 } : {};
    const program = join(prefix, 'bin/mandate-server');
    const outcome = await runProgram(process.execPath, [program, '--version'], { cwd: home, env: { HOME: home }, uid: account.uid });
    expect(outcome).toEqual({ code: 0, stdout: '0.1.0\n', stderr: '' });
    const running = await startServerProcess({ HOME: home }, [program], { executable: process.execPath, directory: home, ...account });
    expect((await fetch(`${running.url}/readyz`)).status).toBe(200);
    expect(await readdir(home)).toContain('data');
    expect(await running.stop()).toBe(0);
    expect((await readdir(join(home, '.cache/mandate'))).length).toBeGreaterThan(0);
    expect(existsSync(join(prefix, 'lib/node_modules/.cache'))).toBe(false);
  });
});
