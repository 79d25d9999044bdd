import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { scopeNames } from '@mandate/contract';
import { databaseKind } from '../support/services/database.ts';
import { signIn, obtainTokens } from '../support/oauth/oauth-flow.ts';
import { startServerProcess, createDataDirectory, type ServerProcess } from '../support/server/server-process.ts';
import { addWorkflows, contractFile, findMissingOperations, walkthroughFile } from './add-walkthrough-steps.ts';
import { startValidatingProxy } from '../support/contract/validating-proxy.ts';

const root = join(import.meta.dirname, '../..');
const order = z.object({ required: z.array(z.string()) }).passthrough();
const components = z.object({ schemas: z.object({ Order: order }).passthrough() }).passthrough();
const document = z.object({ components }).passthrough();
const summary = z.object({ files: z.record(z.object({ totalRequests: z.number() }).passthrough()) });

test('the walkthrough calls every operation', async () => {
  const missing = findMissingOperations(await readFile(walkthroughFile, 'utf8'), await readFile(contractFile, 'utf8'));
  const names = missing.map(({ operationId }) => operationId);
  expect(names, 'run `npm run openapi`, which adds steps for these operations to docs/walkthrough.arazzo.yaml').toEqual([]);
});

test('npm run walkthrough adds steps for missing operations, which use the created resource', async () => {
  const operations = [
    { operationId: 'planted.get', method: 'get', path: '/api/v1/planted/{planted_id}', status: '200' },
    { operationId: 'planted.create', method: 'post', path: '/api/v1/planted', status: '201' },
  ];
  const paths = Object.fromEntries(
    operations.map(({ operationId, method, path, status }) => [
      path,
      { [method]: { operationId, summary: operationId, responses: { [status]: {} } } },
    ]),
  );
  const before = await readFile(walkthroughFile, 'utf8');
  const planted = JSON.stringify({ paths });
  const after = addWorkflows(before, findMissingOperations(before, planted));
  expect(findMissingOperations(after, planted)).toEqual([]);
  expect(after.replace(/  - workflowId: planted\n[^]*?(?=  - workflowId: leave\n)/, '')).toBe(before);
  expect(after).toMatch(/stepId: create\n[^]*== 201\n +outputs:\n +id: [^]*stepId: get\n[^]*value: \$steps.create.outputs.id }[^]*== 200/);
});

// the workflows do not depend on the database, so testing with one database is sufficient
describe.skipIf(databaseKind === 'pglite')('the walkthrough on a new server', () => {
  let data: Awaited<ReturnType<typeof createDataDirectory>>;
  let server: ServerProcess;
  let work = '';
  const cleanUps: (() => Promise<unknown>)[] = [];

  beforeAll(async () => void (work = await mkdtemp(join(tmpdir(), 'mandate-walk-'))));
  afterAll(() => rm(work, { recursive: true, force: true }));
  afterEach(async () => {
    for (const end of cleanUps.splice(0).toReversed()) await end();
  });

  async function startNewServer(): Promise<void> {
    data = await createDataDirectory();
    cleanUps.push(async () => data[Symbol.asyncDispose]());
    server = await startServerProcess({ MANDATE_DATA_DIR: data.path, MANDATE_BACKUP_DIR: data.path });
    cleanUps.push(() => server.stop());
  }

  async function administratorToken(): Promise<string> {
    const account = z.object({ email: z.string(), password: z.string() });
    const file = z.object({ administrator: account }).parse(JSON.parse(await readFile(join(data.path, 'first-run.json'), 'utf8')));
    const browser = await signIn(server.url, file.administrator);
    return (await obtainTokens(server.url, { browser }, scopeNames)).access_token;
  }

  async function startProxyToServer(file?: string): Promise<string> {
    const proxy = await startValidatingProxy(server.url, file);
    cleanUps.push(proxy.close);
    return proxy.origin;
  }

  async function runWalkthrough(serverUrl: string, ...flags: string[]): Promise<{ code: unknown; output: string; requests: number }> {
    const cli = join(root, 'node_modules', '@redocly', 'cli', 'bin', 'cli.js');
    const report = join(work, 'report.json');
    const inputs = ['--input', `token=${await administratorToken()}`, '--server', `mandate=${serverUrl}`, '--json-output', report];
    const child = spawn(process.execPath, [cli, 'respect', walkthroughFile, ...inputs, ...flags], {
      env: { REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true', NO_COLOR: '1' },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    cleanUps.push(async () => child.kill('SIGKILL'));
    let output = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += String(chunk)));
    const [code] = await once(child, 'close');
    const { files } = summary.parse(JSON.parse(await readFile(report, 'utf8')));
    const requests = Object.values(files).reduce((sum, one) => sum + one.totalRequests, 0);
    return { code, output: output.slice(output.indexOf('Failed tests info')), requests };
  }

  test('receives the documented responses, through a proxy that validates requests and responses', { timeout: 180_000 }, async () => {
    await startNewServer();
    const { code, output, requests } = await runWalkthrough(await startProxyToServer());
    expect(code, output).toBe(0);
    expect(requests).toBeGreaterThan(60);
  });

  test('fails behind the proxy with a changed document', { timeout: 180_000 }, async () => {
    await startNewServer();
    const changed = document.parse(JSON.parse(await readFile(contractFile, 'utf8')));
    changed.components.schemas.Order.required.push('invented');
    const file = join(work, 'changed.json');
    await writeFile(file, JSON.stringify(changed));
    const { code } = await runWalkthrough(await startProxyToServer(file), '--workflow', 'sell');
    expect(code).not.toBe(0);
  });
});
