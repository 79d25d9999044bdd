/** Tests that adding a resource changes only lines about this resource in the generated files, so that the changes are easy to review. */
import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';

const run = promisify(execFile);
const root = join(import.meta.dirname, '../../..');

const contractFile = `import { z } from 'zod';
import { defineResource } from '../../protocol/define-resource.ts';
import { commonProblemTypes, cursorProblemCodes, declareProblemResponses, problemCodesOfAuthorizedOperations } from '../../protocol/problems.ts';
import { declareRouteMetadata } from '../../protocol/route-metadata.ts';
import { idSchema, pathIdSchema } from '../../schema/ids.ts';
import { withSchemaName } from '../../schema/openapi-schema-name.ts';
import { listPageSchema, paginationParameters } from '../../schema/pagination.ts';

const fails = declareProblemResponses(commonProblemTypes);
export const supplierSchema = withSchemaName('Supplier', z.object({ id: idSchema, name: z.string() }));

export const supplierRoutes = defineResource('Suppliers', 'Suppliers of the shop.', {
  list: {
    method: 'GET',
    path: '/suppliers',
    query: z.object(paginationParameters).strict(),
    summary: 'List suppliers',
    description: 'Returns the suppliers of the shop.',
    responses: { 200: listPageSchema('SupplierList', supplierSchema), ...fails(...problemCodesOfAuthorizedOperations, ...cursorProblemCodes) },
    metadata: declareRouteMetadata({ operationId: 'suppliers.list', access: ['products.write'] }),
  },
  get: {
    method: 'GET',
    path: '/suppliers/:supplier_id',
    pathParams: z.object({ supplier_id: pathIdSchema('ID of the supplier.') }),
    summary: 'Get a supplier',
    description: 'Returns a supplier.',
    responses: { 200: supplierSchema, ...fails(...problemCodesOfAuthorizedOperations, 'not_found') },
    metadata: declareRouteMetadata({ operationId: 'suppliers.get', access: ['products.write'] }),
  },
});
`;
const entityFile = `import { defineEntity, p } from '@mikro-orm/core';

export const Supplier = defineEntity({
  name: 'Supplier',
  tableName: 'suppliers',
  properties: { id: p.bigint('number').primary().autoincrement(), name: p.text().check('length(name) >= 1 and length(name) <= 200') },
});
`;

let copy: string;
const git = (...parameters: string[]) =>
  run('git', ['-c', 'user.name=test', '-c', 'user.email=test@example.com', ...parameters], { cwd: copy, maxBuffer: 64_000_000 });

/**
 * Copies the repository's files. Links all packages to the originals, except the repository's own packages, whose links point to the copy. The cache is not
 * linked, because a build in the copy would otherwise replace the hashes of this repository's last build, and this repository would be
 * built again.
 */
async function copyRepository(): Promise<void> {
  const { stdout } = await run('git', ['ls-files', '-coz', '--exclude-standard'], { cwd: root, maxBuffer: 64_000_000 });
  for (const file of stdout.split('\0').filter(Boolean))
    await cp(join(root, file), join(copy, file)).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') throw error; // deleted, but not yet committed
    });
  await mkdir(join(copy, 'node_modules'));
  for (const name of await readdir(join(root, 'node_modules')))
    if (name !== '@mandate' && name !== '.cache') await symlink(join(root, 'node_modules', name), join(copy, 'node_modules', name));
  await cp(join(root, 'node_modules/@mandate'), join(copy, 'node_modules/@mandate'), { recursive: true, verbatimSymlinks: true });
  for (const workspace of ['client-sdk', 'contract', 'server'])
    await symlink(join(root, workspace, 'node_modules'), join(copy, workspace, 'node_modules'));
}

async function write(file: string, content: string): Promise<void> {
  await mkdir(dirname(join(copy, file)), { recursive: true });
  await writeFile(join(copy, file), content);
}

async function addLine(file: string, before: string, line: string): Promise<void> {
  const source = await readFile(join(copy, file), 'utf8');
  expect(source).toContain(before);
  await write(file, source.replace(before, `${line}\n${before}`));
}

beforeAll(async () => {
  copy = await mkdtemp(join(tmpdir(), 'mandate-addition-'));
  await copyRepository();
  await write('contract/resources/suppliers/suppliers.ts', contractFile);
  await write('server/suppliers/supplier.entity.ts', entityFile);
  await addLine('contract/index.ts', 'const c = initContract();', `import { supplierRoutes } from './resources/suppliers/suppliers.ts';`);
  await addLine('contract/index.ts', '  deliveryMethods: deliveryMethodRoutes,', '  suppliers: supplierRoutes,');
  await addLine(
    'server/schema/database-entities.ts',
    `export { User } from`,
    `export { Supplier } from '../suppliers/supplier.entity.ts';`,
  );
  await git('init', '--quiet');
  await git('add', '--all');
  await git('commit', '--quiet', '--message', 'the lines that a developer writes');
  const environment = { cwd: copy, maxBuffer: 64_000_000 };
  await run('npm', ['run', '--silent', 'openapi'], environment);
  await run('npm', ['run', '--silent', 'migration', '--', 'suppliers'], environment);
  await git('add', '--all');
}, 300_000);
afterAll(() => rm(copy, { recursive: true, force: true }));

/**
 * Returns the changed lines of each generated file. A line to which only a comma or the new operations were added does not count as
 * removed.
 */
async function listChangedLines(): Promise<Map<string, { added: string[]; removed: string[] }>> {
  const { stdout } = await git('diff', '--cached', '--no-color', '--unified=0');
  return new Map(
    stdout
      .split(/^diff --git /m)
      .slice(1)
      .map((part) => {
        const lines = part.slice(part.indexOf('\n@@')).split('\n');
        const marked = (mark: string): string[] => lines.filter((line) => line.startsWith(mark)).map((line) => line.slice(1));
        const [added, removed] = [marked('+'), marked('-')];
        const withoutAdditions = new Set(added.flatMap((line) => [line.replace(/,$/, ''), line.replaceAll(/, `suppliers\.\w+`/g, '')]));
        return [/ b\/(.*)/.exec(part)?.[1] ?? '', { added, removed: removed.filter((line) => !withoutAdditions.has(line)) }];
      }),
  );
}

test('the generated changes remove no line, and affect only the files that a developer expects', async () => {
  const changes = await listChangedLines();
  expect([...changes].filter(([, { removed }]) => removed.length > 0)).toEqual([]);
  expect([...changes.keys()].map((file) => file.replace(/\d{14}/, 'TIME'))).toEqual([
    'SECURITY.md',
    'cli/contract-commands/commands.gen.ts',
    'client-sdk/generated/mock-responses.gen.ts',
    'client-sdk/generated/queries.gen.ts',
    'client-sdk/generated/resources.gen.ts',
    'client-sdk/generated/routes.gen.ts',
    'contract/openapi/openapi.json',
    'docs/walkthrough.arazzo.yaml',
    'server/database/migrations/TIME_suppliers.ts',
  ]);
});

test('the generated migration creates only the table of the resource, and is formatted', async () => {
  const [migration] = (await readdir(join(copy, 'server/database/migrations'))).filter((file) => file.endsWith('_suppliers.ts'));
  const source = await readFile(join(copy, 'server/database/migrations', migration ?? ''), 'utf8');
  expect(source.match(/(?:create|alter|drop) \w+ \S+/gi)).toEqual(['create table "suppliers"', 'alter table "suppliers"']);
  await run(join(root, 'node_modules/.bin/oxfmt'), ['--check', `server/database/migrations/${migration}`], { cwd: copy });
});
