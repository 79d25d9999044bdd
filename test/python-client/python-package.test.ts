import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, onTestFinished, test } from 'vitest';
import { signWebhook } from '@mandate/client-sdk/webhooks';
import packageJson from '../../package.json' with { type: 'json' };
import { createV1DocumentAndDocumentOfV2Changes } from '../../client-sdk/codegen/create-v1-document-and-document-of-v2-changes.ts';
import { listPublicOpenApiOperations } from '../../client-sdk/codegen/openapi-types-and-operation-list.ts';
import { toSnakeCase } from '../../clients/python/codegen/python-names.ts';
import { buildPythonPackage } from '../../packaging/build-python-package.ts';
import { renderPythonClient } from '../../clients/python/codegen/render-python-client.ts';
import { readCodeBlocks } from '../support/markdown.ts';
import { createConfidentialClient, signUp } from '../support/oauth/oauth-flow.ts';
import { hasPythonModule, python, pythonClientDirectory, pythonClientEnvironment } from '../support/python.ts';
import { withShop } from '../support/shop/with-shop.ts';

const run = promisify(execFile);
const runPython = async (argv: readonly string[], env: NodeJS.ProcessEnv = pythonClientEnvironment): Promise<string> =>
  (await run(python, argv, { env, cwd: tmpdir() })).stdout;

async function makeTemporaryDirectory(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'mandate-python-'));
  onTestFinished(() => rm(directory, { recursive: true }));
  return directory;
}

describe.skipIf(!hasPythonModule('httpx'))('the Python client', () => {
  test('has a method for each operation, sync and async, which sends the declared request', async () => {
    const operations = listPublicOpenApiOperations(createV1DocumentAndDocumentOfV2Changes().v1);
    const expected = Object.fromEntries(
      operations.map(({ resource, name, method, path, query, dryRun, idempotent, ifMatch, ifNoneMatch, takesFile }) => [
        `${toSnakeCase(resource)}.${toSnakeCase(name)}`,
        {
          method,
          path,
          query: dryRun ? ['dry_run'] : query,
          headers: [
            ...(idempotent ? ['Idempotency-Key'] : []),
            ...(ifMatch ? ['If-Match'] : []),
            ...(ifNoneMatch && method !== 'GET' ? ['If-None-Match'] : []),
            ...(takesFile ? ['Content-Type'] : []),
          ],
        },
      ]),
    );
    const actual = JSON.parse(await runPython([join(import.meta.dirname, 'list_requests.py')]));
    expect(Object.keys(expected).length).toBeGreaterThan(80);
    expect(actual).toEqual({ sync: expected, async: expected });
  });

  test.skipIf(!hasPythonModule('mypy'))(
    'passes the type checker, which finds misspelled values and wrong arguments',
    async () => {
      const files = [join(pythonClientDirectory, 'src/mandate_client'), join(import.meta.dirname, 'type_errors.py')];
      const program = join(import.meta.dirname, '../peers/python-client/exercise_client.py');
      const cache = await makeTemporaryDirectory();
      const env = { ...pythonClientEnvironment, PYTHONPATH: '', MYPYPATH: join(pythonClientDirectory, 'src') };
      expect(await runPython(['-m', 'mypy', '--strict', '--cache-dir', cache, ...files, program], env)).toMatch(/^Success/);
    },
    120_000,
  );

  test('verifies webhook deliveries', async () => {
    const [secret, otherSecret] = ['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', 'whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA'];
    const body = JSON.stringify({ id: 7, type: 'order.paid', data: { object: { reference: 'Zoë' } } });
    const headers = await signWebhook('msg_1', body, secret, new Date(1_000_000));
    const verify = (given: object): Promise<string> =>
      runPython([join(import.meta.dirname, 'verify_delivery.py'), JSON.stringify({ body, headers, secrets: secret, now: 1000, ...given })]);
    expect(await verify({})).toBe('7 order.paid\n');
    expect(await verify({ secrets: [otherSecret, secret], now: 1300 })).toBe('7 order.paid\n');
    expect(await verify({ headers: { ...headers, 'webhook-signature': `v2,abc ${headers['webhook-signature']}` } })).toBe('7 order.paid\n');
    expect(await verify({ secrets: otherSecret })).toBe('no signature matches one of the secrets\n');
    expect(await verify({ body: body.replace('7', '8') })).toBe('no signature matches one of the secrets\n');
    expect(await verify({ now: 1301 })).toBe('webhook-timestamp is more than 300 s from now\n');
    expect(await verify({ headers: {} })).toBe('webhook-id, webhook-timestamp or webhook-signature is missing\n');
    await expect(verify({ secrets: 'whsec_?secret?' })).rejects.toThrow('a webhook secret must be whsec_ followed by base64');
  });

  test.skipIf(!hasPythonModule('build'))(
    'can be packed and installed',
    async () => {
      const directory = await makeTemporaryDirectory();
      const { sdist, wheel } = await buildPythonPackage(join(directory, 'dist'), packageJson.version);
      expect((await readdir(join(directory, 'dist'))).toSorted()).toEqual([sdist, wheel]);
      await runPython(['-m', 'zipfile', '--extract', join(directory, 'dist', wheel), join(directory, 'installed')]);
      const information = join(directory, `installed/mandate_client-${packageJson.version}.dist-info`);
      expect(await readFile(join(information, 'LICENSE'), 'utf8')).toBe(await readFile(join(pythonClientDirectory, 'LICENSE'), 'utf8'));
      const metadata = (await readFile(join(information, 'METADATA'), 'utf8')).split('\n');
      const stated = ['Name: mandate-client', `Version: ${packageJson.version}`, 'License: MIT', 'Requires-Python: >=3.11'];
      expect(metadata).toEqual(expect.arrayContaining([...stated, `Project-URL: Homepage, ${packageJson.homepage}`]));
      const installed = await readdir(join(directory, 'installed/mandate_client'));
      expect(installed).toEqual(expect.arrayContaining(['py.typed', '__init__.py', ...Object.keys(renderPythonClient())]));
      const program = 'import mandate_client; print(mandate_client.__file__, mandate_client.__version__)';
      const output = await runPython(['-c', program], { ...pythonClientEnvironment, PYTHONPATH: join(directory, 'installed') });
      expect(output).toBe(`${join(directory, 'installed/mandate_client/__init__.py')} ${packageJson.version}\n`);
    },
    120_000,
  );
});

describe.skipIf(!hasPythonModule('httpx'))("the README's example", async () => {
  const shop = withShop();
  const blocks = (await readCodeBlocks('clients/python/README.md')).filter(({ language }) => language === 'python');

  test.each(blocks.map(({ name, text }) => [name, text] as const))('%s', async (_name, text) => {
    const { clientId, secret } = await createConfidentialClient(shop.db, [
      'orders.read',
      'orders.manage',
      'payments.manage',
      'payments.read',
      'products.write',
      'events.read',
    ]);
    const { id: productId } = await shop.createProduct();
    const { id: userId } = await signUp(shop.origin);
    const values = { CLIENT_ID: clientId, CLIENT_SECRET: secret, PRODUCT_ID: productId, USER_ID: userId };
    const assignments = Object.entries(values).map(([name, value]) => `${name} = ${JSON.stringify(value)}\n`);
    const program = `${assignments.join('')}${text.replaceAll('http://localhost:3000', shop.origin)}`;
    expect(await runPython(['-c', program])).toMatch(expectedOutputs.find(([start]) => text.includes(start))?.[1] ?? /^$/);
  });
});

/** The part of each example that prints something, and a pattern for its output. */
const expectedOutputs: readonly (readonly [part: string, output: RegExp])[] = [
  ['client.products.list(', /^(.+ \d+ [A-Z]{3}\n)+\d+ 510 pending\n$/],
  ['AsyncClient(', /^(\d+\n)*.+\n$/],
  ['ConnectionFailedError', /^404 not_found .+ \[\]\n$/],
  ['iterate_events(', /^(\d+\n)*$/],
  ['verify_webhook(', /^400\n$/],
];
