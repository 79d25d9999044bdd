import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

const run = promisify(execFile);
const root = join(import.meta.dirname, '../..');

/** A house with the same rules and nothing in it, to plant one fault at a time in. */
let house: string;
beforeAll(async () => {
  house = await mkdtemp(join(tmpdir(), 'mandate-structure-'));
  for (const file of ['.oxlintrc.json', 'tsconfig.json', 'package.json']) await cp(join(root, file), join(house, file));
  await symlink(join(root, 'node_modules'), join(house, 'node_modules'));
});
afterAll(() => rm(house, { recursive: true }));

async function lint(path: string, source: string): Promise<string> {
  const file = join(house, path);
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, source);
  try {
    return (await run(join(root, 'node_modules/.bin/oxlint'), [path], { cwd: house })).stdout;
  } catch (error) {
    if (error instanceof Error && 'stdout' in error) return String(error.stdout);
    throw error;
  } finally {
    await rm(file);
  }
}

const imports = (specifier: string): string => `import { something } from '${specifier}';\n\nexport const planted = something;\n`;

describe('the linter refuses an import in the wrong direction', () => {
  test.each([
    ['contract/planted.ts', '../server/planted.ts'],
    ['contract/planted.ts', '@mandate/server/planted.ts'],
    ['contract/planted.ts', 'node:fs'],
    ['contract/openapi/planted.ts', '../../server/planted.ts'],
    ['server/planted.ts', '../client-sdk/planted.ts'],
    ['server/planted.ts', '@mandate/client-sdk'],
    ['server/planted.ts', '@mandate/cli'],
    ['server/http/request/planted.ts', '../../orders/planted.ts'],
    ['server/http/request/planted.ts', '../../oauth/planted.ts'],
    ['server/http/planted.ts', '@mandate/client-sdk'],
    ['server/orders/planted.ts', '../oauth/planted.ts'],
    ['server/orders/planted.ts', '../products/routes.ts'],
    ['server/orders/planted.ts', '@mandate/client-sdk'],
    ['server/oauth/planted.ts', '../orders/planted.ts'],
    ['server/oauth/planted.ts', '@mandate/client-sdk'],
    ['server/database/planted.ts', '../http/planted.ts'],
    ['client-sdk/planted.ts', '../server/planted.ts'],
    ['client-sdk/planted.ts', '@mandate/server/planted.ts'],
    ['client-sdk/planted.ts', '@mandate/cli'],
    ['cli/planted.ts', '../server/planted.ts'],
    ['cli/planted.ts', '../contract/planted.ts'],
    ['cli/planted.ts', '@mandate/contract'],
    ['cli/commands/planted.ts', '@mandate/server/planted.ts'],
  ])('%s <- %s', async (path, specifier) => {
    expect(await lint(path, imports(specifier))).toContain('no-restricted-imports');
  });

  test.each([
    ['as a type', `import type { Something } from '@mandate/server/planted.ts';\n\nexport type Planted = Something;\n`],
    ['passed on', `export { something } from '@mandate/server/planted.ts';\n`],
    ['when it is needed', `export const planted = (): Promise<unknown> => import('@mandate/server/planted.ts');\n`],
  ])('also %s', async (_how, source) => {
    expect(await lint('cli/planted.ts', source)).toContain('no-restricted-imports');
  });
});

describe('the linter accepts an import in the right direction', () => {
  test.each([
    ['server/orders/planted.ts', '@mandate/contract'],
    ['server/orders/planted.ts', '../http/problem.ts'],
    ['server/orders/planted.ts', '../products/product.entity.ts'],
    ['server/http/planted.ts', '../database/database.ts'],
    ['server/oauth/planted.ts', '../users/user.entity.ts'],
    ['client-sdk/planted.ts', '@mandate/contract'],
    ['cli/planted.ts', '@mandate/client-sdk'],
  ])('%s <- %s', async (path, specifier) => {
    expect(await lint(path, imports(specifier))).not.toContain('no-restricted-imports');
  });
});

describe('the linter refuses what the house does not have', () => {
  test.each([
    ['any', 'no-explicit-any', 'export const planted = (value: any): unknown => value;\n'],
    ['an assertion', 'no-unsafe-type-assertion', 'export const planted = (value: unknown): string => value as string;\n'],
    ['a default export', 'no-default-export', 'export default 1;\n'],
    ['a barrel', 'no-barrel-file', `export * from './other.ts';\n`],
    ['the environment', 'no-process-env', 'export const planted = process.env;\n'],
    ['a promise nobody waits for', 'no-floating-promises', 'export const planted = (): void => {\n  Promise.resolve();\n};\n'],
    ['a function of 61 lines', 'max-lines-per-function', `export function planted(): void {\n${'  process.uptime();\n'.repeat(59)}}\n`],
    ['a file of 301 lines', 'max-lines', 'process.uptime();\n'.repeat(301)],
  ])('%s', async (_what, rule, source) => {
    expect(await lint('server/planted.ts', source)).toContain(rule);
  });
});
