import { dirname } from 'node:path';
import { describe, expect, test } from 'vitest';
import { serverLayers } from '../../server-layers.ts';
import { withLintedFiles } from './lint-project.ts';

const plant = withLintedFiles();

const imports = (specifier: string): string => `import { something } from '${specifier}';\n\nexport const planted = something;\n`;

/**
 * For each row, plants a file with the forbidden import, and adds to the row a function that returns the linter messages about this file.
 */
const plantImports = (rows: readonly (readonly [path: string, specifier: string])[]) =>
  rows.map(([path, specifier]) => [path, specifier, plant(path, imports(specifier))] as const);

describe('the linter rejects an import', () => {
  test.each(
    plantImports([
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
    ]),
  )('of another package: %s <- %s', (_path, _specifier, messages) => {
    expect(messages()).toContain('no-restricted-imports');
  });

  test.each(
    plantImports([
      ['server/products/planted.ts', '../refunds/submit-or-poll-refund.ts'],
      ['server/products/planted.ts', '../order-lifecycle/cancel-order.ts'],
      ['server/webhooks/planted.ts', '../oauth/provider/postgres-adapter.ts'],
      ['server/events/planted.ts', '../webhooks/delivery/delivery-worker.ts'],
      ['server/refunds/planted.ts', '../oauth/protocol/oauth-scopes.ts'],
      ['server/oauth/planted.ts', '../orders/order-and-order-item.entity.ts'],
    ]),
  )('of a folder that server-layers.ts does not allow: %s <- %s', (path, _specifier, messages) => {
    expect(messages()).toContain(`${dirname(path)} may only import`);
  });

  const higherLayers = serverLayers.slice(0, -1).map(([folder = ''], layer) => {
    const higher = serverLayers[layer + 1]?.[0] ?? '';
    const messages = plant(`server/${folder}/planted.ts`, imports(`../${higher}/planted.ts`));
    const messagesOfPart = plant(`server/${folder}/part/planted.ts`, imports(`../../${higher}/planted.ts`));
    return [folder, higher, messages, messagesOfPart] as const;
  });
  test.each(higherLayers)('of a higher layer: server/%s <- server/%s', (folder, _higher, messages, messagesOfPart) => {
    expect(messages()).toContain(`server/${folder} may only import`);
    expect(messagesOfPart()).toContain('may only import');
  });

  test.each(
    [
      ['of a type', `import type { Something } from '@mandate/server/planted.ts';\n\nexport type Planted = Something;\n`],
      ['in a re-export', `export { something } from '@mandate/server/planted.ts';\n`],
      ['at run time', `export const planted = (): Promise<unknown> => import('@mandate/server/planted.ts');\n`],
    ].map(([how, source = '']) => [how, plant('cli/planted.ts', source)] as const),
  )('%s', (_how, messages) => {
    expect(messages()).toContain('no-restricted-imports');
  });
});

describe('the linter accepts an import in the right direction', () => {
  test.each(
    plantImports([
      ['server/orders/planted.ts', '@mandate/contract'],
      ['server/orders/planted.ts', '../http/problem-details/problem.ts'],
      ['server/orders/planted.ts', '../products/product-stock-and-adjustment.entity.ts'],
      ['server/http/planted.ts', '../database/open-database-with-entities.ts'],
      ['server/oauth/planted.ts', '../users/user.entity.ts'],
      ['client-sdk/planted.ts', '@mandate/contract'],
      ['cli/planted.ts', '@mandate/client-sdk'],
      ['cli/planted.ts', '@mandate/contract/tools'],
    ]),
  )('%s <- %s', (_path, _specifier, messages) => {
    expect(messages()).not.toContain('no-restricted-imports');
  });
});

describe('the linter rejects', () => {
  test.each(
    [
      ['the type any', 'no-explicit-any', 'export const planted = (value: any): unknown => value;\n'],
      ['a type assertion', 'no-unsafe-type-assertion', 'export const planted = (value: unknown): string => value as string;\n'],
      ['a default export', 'no-default-export', 'export default 1;\n'],
      ['a barrel file', 'no-barrel-file', `export * from './other.ts';\n`],
      ['access to process.env', 'no-process-env', 'export const planted = process.env;\n'],
      ['a floating promise', 'no-floating-promises', 'export const planted = (): void => {\n  Promise.resolve();\n};\n'],
      ['a function of 61 lines', 'max-lines-per-function', `export function planted(): void {\n${'  process.uptime();\n'.repeat(59)}}\n`],
      ['a file of 301 lines', 'max-lines', 'process.uptime();\n'.repeat(301)],
    ].map(([what, rule = '', source = '']) => [what, rule, plant('server/planted.ts', source)] as const),
  )('%s', (_what, rule, messages) => {
    expect(messages()).toContain(rule);
  });
});
