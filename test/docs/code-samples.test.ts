import { spawnSync } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { createOpenApiDocument } from '@mandate/contract/openapi';
import { handwrittenCommandNamesByOperation } from '../../cli/contract-commands/handwritten-command-names.ts';
import { exitCodes } from '../../cli/errors/exit-codes.ts';
import { runInProcess } from '../cli/run-command-line.ts';
import { assertAvailableInCi } from '../support/assert-available-in-ci.ts';

const origin = 'https://shop.example';
const operation = z.object({
  operationId: z.string(),
  'x-internal': z.boolean().optional(),
  'x-codeSamples': z.array(z.object({ lang: z.string(), source: z.string() })).default([]),
  parameters: z.array(z.object({ name: z.string(), in: z.string(), example: z.unknown().optional() })).default([]),
  requestBody: z.object({ content: z.record(z.object({ example: z.unknown() })) }).optional(),
  security: z.array(z.unknown()),
});
const { paths } = z.object({ paths: z.record(z.record(operation)) }).parse(createOpenApiDocument(origin));

const operations = Object.entries(paths).flatMap(([path, methods]) =>
  Object.entries(methods)
    .filter(([, one]) => one['x-internal'] !== true)
    .map(([method, one]) => {
      const samples = Object.fromEntries(one['x-codeSamples'].map(({ lang, source }) => [lang, source]));
      const pathWithExamples = one.parameters.reduce(
        (text, { name, in: place, example }) => (place === 'path' ? text.replace(`{${name}}`, String(example)) : text),
        path,
      );
      const body = one.requestBody?.content['application/json']?.example;
      return { ...one, method: method.toUpperCase(), path: pathWithExamples, body, samples };
    }),
);
const byId = operations.map((one) => [one.operationId, one] as const);

test.each(byId)('%s has a sample in each language', (_id, { samples }) => {
  expect(Object.keys(samples)).toEqual(['curl', 'TypeScript', 'CLI', 'Python']);
});

describe('TypeScript samples', () => {
  const root = join(import.meta.dirname, '../..');
  let folder = '';
  beforeAll(async () => void (folder = await mkdtemp(join(root, 'test', 'docs', '.samples-'))));
  afterAll(() => rm(folder, { recursive: true, force: true }));

  const compile = (): string => {
    const { stdout } = spawnSync(process.execPath, [join(root, 'node_modules/typescript/bin/tsc'), '-p', folder], { encoding: 'utf8' });
    return stdout;
  };

  test('every sample compiles, and an invalid one fails', { timeout: 120_000 }, async () => {
    const options = { extends: join(root, 'tsconfig.json'), compilerOptions: { rootDir: root }, include: ['*.ts'] };
    await writeFile(join(folder, 'tsconfig.json'), JSON.stringify(options));
    for (const { operationId, samples } of operations) await writeFile(join(folder, `${operationId}.ts`), samples['TypeScript'] ?? '');
    expect(compile()).toBe('');
    const sample = await readFile(join(folder, 'orders.create.ts'), 'utf8');
    await writeFile(join(folder, 'wrong.ts'), sample.replace('product_id: 1', "product_id: 'one'"));
    expect(compile()).toMatch(/wrong\.ts.*TS2322/);
  });
});

/**
 * Replaces the file argument of an upload command, so that an import command reads standard input and a logo command uploads an existing
 * image.
 */
function withExistingFile({ requestBody, operationId }: (typeof operations)[number], argv: string[]): string[] {
  if (operationId.endsWith('.setLogo'))
    return [...argv.slice(0, -1), join(import.meta.dirname, '../../server/first-run/demonstration-logo.png')];
  const [resource = '', action = '', file, ...flags] = argv;
  if (!requestBody || file === undefined || file.startsWith('-')) return argv;
  return [resource, action, '-', ...flags, '--format', 'csv'];
}

describe('command-line samples', () => {
  const singleRequestCommands = operations.filter(({ operationId }) => !(operationId in handwrittenCommandNamesByOperation));

  test.each(singleRequestCommands.map((one) => [one.operationId, one] as const))('%s sends the documented request', async (_id, one) => {
    const { exitCode, stdout, stderr } = await runInProcess([...splitCommand(one.samples['CLI'] ?? ''), '--print-request']);
    expect({ exitCode, stderr }).toEqual({ exitCode: exitCodes.success, stderr: '' });
    const request = z.object({ method: z.string(), path: z.string(), body: z.unknown() }).parse(JSON.parse(stdout));
    expect(request).toEqual({ method: one.method, path: one.path, ...(request.body !== undefined && { body: one.body }) });
    expect(request.body === undefined).toBe(one.body === undefined);
  });

  const multiRequestCommands = operations.filter(({ operationId }) => operationId in handwrittenCommandNamesByOperation);

  test.each(multiRequestCommands.map((one) => [one.operationId, one] as const))(
    '%s is rejected only because no user is signed in',
    async (_id, one) => {
      const argv = splitCommand(one.samples['CLI'] ?? '');
      const { exitCode, stderr } = await runInProcess(withExistingFile(one, argv), { stdin: 'reference\n' });
      expect(exitCode, stderr).toBe(exitCodes.signInRequired);
    },
  );
});

describe('curl samples', () => {
  const sent = z.object({ method: z.string(), url: z.string(), headers: z.array(z.string()), body: z.string().optional() });

  /** Runs the samples in bash with a `curl` function that prints its arguments. */
  function runCurlSamples(): z.infer<typeof sent>[] {
    const script = [
      'curl() { printf "%s\\0" "$@"; printf "\\n\\0"; }',
      'uuidgen() { echo a-key; }',
      'TOKEN=a-token',
      ...operations.map(({ samples }) => samples['curl'] ?? ''),
    ].join('\n');
    const { stdout, stderr, status } = spawnSync('bash', ['--norc', '-eu', '-c', script], { encoding: 'utf8' });
    expect({ stderr, status }).toEqual({ stderr: '', status: 0 });
    return stdout
      .split('\n\0')
      .slice(0, -1)
      .map((text) => parseCurlArguments(text.split('\0').slice(0, -1)));
  }

  function parseCurlArguments(argv: string[]): z.infer<typeof sent> {
    const after = (flag: string): string | undefined => (argv.includes(flag) ? argv[argv.indexOf(flag) + 1] : undefined);
    const headers = argv.flatMap((word, at) => (argv[at - 1] === '-H' ? [word] : []));
    return sent.parse({ method: after('-X') ?? 'GET', url: argv.find((word) => word.startsWith('https:')), headers, body: after('-d') });
  }

  test('every sample sends the documented request', () => {
    const all = runCurlSamples();
    expect(all.length).toBe(operations.length);
    for (const [at, { operationId, method, path, body, security }] of operations.entries()) {
      const request = all[at];
      expect(request?.method, operationId).toBe(method);
      expect(new URL(request?.url ?? '').pathname, operationId).toBe(path);
      expect(request?.headers.includes('Authorization: Bearer a-token'), operationId).toBe(security.length > 0);
      expect(request?.body === undefined ? undefined : JSON.parse(request.body), operationId).toEqual(body);
      expect(request?.headers.includes('Content-Type: application/json'), operationId).toBe(body !== undefined);
    }
  });
});

const hasPython = assertAvailableInCi('Python', spawnSync('python3', ['--version']).status === 0);

describe.skipIf(!hasPython)('Python samples', () => {
  const sent = z.object({
    method: z.string(),
    url: z.string(),
    params: z.record(z.union([z.string(), z.number()])),
    headers: z.record(z.string()),
    json: z.unknown(),
    file: z.string().nullable(),
  });

  /** Runs each sample with a `requests` module that prints the request instead of sending it. */
  function runPythonSamples(samples: readonly string[]): z.infer<typeof sent>[] {
    const program = `
import io, json, sys, types
calls = []
class Response:
    text = ""
    def raise_for_status(self): pass
    def json(self): return None
def send(method):
    def call(url, *, params={}, headers={}, json=None, data=None):
        calls.append(dict(method=method, url=url, params=params, headers=headers, json=json, file=data and data.name))
        return Response()
    return call
class File:
    def __init__(self, name, mode): self.name = name
sys.modules["requests"] = types.SimpleNamespace(**{name: send(name.upper()) for name in ("get", "post", "put", "patch", "delete")})
for source in json.load(sys.stdin):
    exec(source, {"open": File, "print": lambda *values: None})
print(json.dumps(calls))
`;
    const { stdout, stderr, status } = spawnSync('python3', ['-c', program], { input: JSON.stringify(samples), encoding: 'utf8' });
    expect({ stderr, status }).toEqual({ stderr: '', status: 0 });
    return z.array(sent).parse(JSON.parse(stdout));
  }

  test('every sample sends the documented request', () => {
    const all = runPythonSamples(operations.map(({ samples }) => samples['Python'] ?? ''));
    for (const [at, { operationId, method, path, body, security, requestBody, parameters }] of operations.entries()) {
      const request = all[at];
      expect(request?.method, operationId).toBe(method);
      expect(new URL(request?.url ?? '').pathname, operationId).toBe(path);
      expect(request?.headers['Authorization'], operationId).toBe(security.length > 0 ? 'Bearer ACCESS_TOKEN' : undefined);
      expect(request?.json ?? undefined, operationId).toEqual(body);
      expect(request?.file !== null, operationId).toBe(requestBody !== undefined && body === undefined);
      const isDeclared = (location: string) => (name: string) => parameters.some((one) => one.in === location && one.name === name);
      expect(
        Object.keys(request?.params ?? {}).filter((name) => !isDeclared('query')(name)),
        operationId,
      ).toEqual([]);
      const ownHeaders = Object.keys(request?.headers ?? {}).filter((name) => !['Authorization', 'Content-Type'].includes(name));
      expect(
        ownHeaders.filter((name) => !isDeclared('header')(name)),
        operationId,
      ).toEqual([]);
    }
  });
});

/** Splits a command into words as a shell does, and removes the first word, `mandate`. */
function splitCommand(command: string): string[] {
  const { stdout } = spawnSync('bash', ['--norc', '-c', `mandate() { printf '%s\\0' "$@"; }\n${command}`], { encoding: 'utf8' });
  return stdout.split('\0').slice(0, -1);
}
