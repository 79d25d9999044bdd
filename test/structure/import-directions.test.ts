import { describe, expect, test } from 'vitest';
import { serverLayers } from '../../server-layers.ts';
import { withLintProject } from './lint-project.ts';

const lintFiles = withLintProject();
const lint = (path: string, source: string): Promise<string> => lintFiles({ [path]: source });

const imports = (specifier: string): string => `import { something } from '${specifier}';\n\nexport const planted = something;\n`;

describe('the linter rejects an import', () => {
  test.each([
    ['contract/planted.ts', '../server/planted.ts'],
    ['contract/planted.ts', '@mandate/server/planted.ts'],
    ['contract/planted.ts', 'node:fs'],
    ['contract/openapi/planted.ts', '../../server/planted.ts'],
    ['server/planted.ts', '../client-sdk/planted.ts'],
    ['server/orders/planted.ts', '@mandate/client-sdk'],
    ['server/orders/planted.ts', '@mandate/cli'],
    ['client-sdk/planted.ts', '../server/planted.ts'],
    ['client-sdk/planted.ts', '@mandate/server/planted.ts'],
    ['client-sdk/planted.ts', '@mandate/cli'],
    ['cli/planted.ts', '../server/planted.ts'],
    ['cli/planted.ts', '../contract/planted.ts'],
    ['cli/planted.ts', '@mandate/contract'],
    ['cli/planted.ts', '@mandate/contract/openapi'],
    ['cli/commands/planted.ts', '@mandate/server/planted.ts'],
  ])('of another package: %s <- %s', async (path, specifier) => {
    expect(await lint(path, imports(specifier))).toContain('no-restricted-imports');
  });

  test.each([
    ['products', '../refunds/submit-or-poll-refund.ts'],
    ['products', '../order-lifecycle/cancel-order.ts'],
    ['webhooks', '../oauth/provider/postgres-adapter.ts'],
    ['events', '../webhooks/delivery/delivery-worker.ts'],
    ['refunds', '../oauth/protocol/oauth-scopes.ts'],
    ['oauth', '../orders/order-and-order-item.entity.ts'],
  ])('of a folder that server-layers.ts does not allow: server/%s <- %s', async (folder, specifier) => {
    expect(await lint(`server/${folder}/planted.ts`, imports(specifier))).toContain(`server/${folder} may only import`);
  });

  test.each(serverLayers.slice(0, -1).map(([folder = ''], layer) => [folder, serverLayers[layer + 1]?.[0] ?? '']))(
    'of a higher layer: server/%s <- server/%s',
    async (folder, higher) => {
      expect(await lint(`server/${folder}/planted.ts`, imports(`../${higher}/planted.ts`))).toContain(`server/${folder} may only import`);
      expect(await lint(`server/${folder}/part/planted.ts`, imports(`../../${higher}/planted.ts`))).toContain('may only import');
    },
  );

  test.each([
    ['of a type', `import type { Something } from '@mandate/server/planted.ts';\n\nexport type Planted = Something;\n`],
    ['in a re-export', `export { something } from '@mandate/server/planted.ts';\n`],
    ['at run time', `export const planted = (): Promise<unknown> => import('@mandate/server/planted.ts');\n`],
  ])('%s', async (_how, source) => {
    expect(await lint('cli/planted.ts', source)).toContain('no-restricted-imports');
  });
});

describe('the linter accepts an import in the right direction', () => {
  test.each([
    ['server/orders/planted.ts', '@mandate/contract'],
    ['server/orders/planted.ts', '../http/problem-details/problem.ts'],
    ['server/orders/planted.ts', '../products/product-stock-and-adjustment.entity.ts'],
    ['server/http/planted.ts', '../database/open-database-with-entities.ts'],
    ['server/oauth/planted.ts', '../users/user.entity.ts'],
    ['client-sdk/planted.ts', '@mandate/contract'],
    ['cli/planted.ts', '@mandate/client-sdk'],
    ['cli/planted.ts', '@mandate/contract/tools'],
  ])('%s <- %s', async (path, specifier) => {
    expect(await lint(path, imports(specifier))).not.toContain('no-restricted-imports');
  });
});

describe('the linter rejects', () => {
  test.each([
    ['the type any', 'no-explicit-any', 'export const planted = (value: any): unknown => value;\n'],
    ['a type assertion', 'no-unsafe-type-assertion', 'export const planted = (value: unknown): string => value as string;\n'],
    ['a default export', 'no-default-export', 'export default 1;\n'],
    ['a barrel file', 'no-barrel-file', `export * from './other.ts';\n`],
    ['access to process.env', 'no-process-env', 'export const planted = process.env;\n'],
    ['a floating promise', 'no-floating-promises', 'export const planted = (): void => {\n  Promise.resolve();\n};\n'],
    ['a function of 61 lines', 'max-lines-per-function', `export function planted(): void {\n${'  process.uptime();\n'.repeat(59)}}\n`],
    ['a file of 301 lines', 'max-lines', 'process.uptime();\n'.repeat(301)],
  ])('%s', async (_what, rule, source) => {
    expect(await lint('server/planted.ts', source)).toContain(rule);
  });
});
