import { defineConfig, type OxlintOverride } from 'oxlint';
import { listForbiddenFolders, serverFolders } from './server-layers.ts';

const otherPackages = ['@mandate/client-sdk', '@mandate/cli', '**/client-sdk/**', '**/cli/**'];

const restrictImports = (files: string[], group: string[], message: string): OxlintOverride => ({
  files,
  rules: { 'no-restricted-imports': ['error', { patterns: [{ group, message }] }] },
});

/** If several overrides match a file, only the last override applies. Therefore, each server file matches only one of these overrides. */
const serverImports = [
  restrictImports(['server/*.ts'], otherPackages, 'server imports contract only'),
  ...serverFolders.map((folder) =>
    restrictImports(
      [`server/${folder}/**`],
      [...otherPackages, ...listForbiddenFolders(folder).map((forbidden) => `**/${forbidden}/**`)],
      `server/${folder} may only import the folders below it in server-layers.ts`,
    ),
  ),
];

export default defineConfig({
  jsPlugins: ['./private-words.ts'],
  plugins: ['eslint', 'typescript', 'unicorn', 'oxc', 'import', 'node', 'promise', 'vitest'],
  ignorePatterns: ['**/node_modules/**', '**/dist/**', '**/*.gen.ts', 'test/package/consumer.ts', 'test/package/runtime-program.ts'],
  options: { typeAware: true, denyWarnings: true, reportUnusedDisableDirectives: 'error' },
  categories: { correctness: 'error', suspicious: 'error' },
  rules: {
    'max-lines': ['error', { max: 300 }],
    'max-lines-per-function': ['error', { max: 60 }],
    'typescript/no-explicit-any': 'error',
    'typescript/no-non-null-assertion': 'error',
    'typescript/no-unsafe-assignment': 'error',
    'typescript/no-unsafe-argument': 'error',
    'typescript/no-unsafe-call': 'error',
    'typescript/no-unsafe-member-access': 'error',
    'typescript/no-unsafe-return': 'error',
    'typescript/no-unsafe-type-assertion': 'error',
    'typescript/no-floating-promises': 'error',
    'typescript/no-misused-promises': 'error',
    'typescript/switch-exhaustiveness-check': ['error', { considerDefaultExhaustiveForUnions: true }],
    'typescript/consistent-type-imports': 'error',
    'typescript/return-await': ['error', 'in-try-catch'],
    'import/no-default-export': 'error',
    'import/no-cycle': 'error',
    'oxc/no-barrel-file': ['error', { threshold: 0 }],
    'node/no-process-env': 'error',
    'no-console': 'error',
    'unicorn/filename-case': ['error', { case: 'kebabCase' }],
    'language/private-words': 'error',
    'vitest/valid-expect': ['error', { maxArgs: 2 }],
  },
  overrides: [
    {
      files: ['contract/**'],
      rules: {
        'no-restricted-imports': [
          'error',
          {
            patterns: [
              {
                group: ['@mandate/*', 'node:*', 'express', '@mikro-orm/*', '**/server/**', '**/client-sdk/**', '**/cli/**'],
                message: 'contract imports no other package of this repository and does no I/O',
              },
            ],
          },
        ],
      },
    },
    ...serverImports,
    {
      files: ['client-sdk/**'],
      rules: {
        'no-restricted-imports': [
          'error',
          {
            patterns: [
              {
                group: ['@mandate/server', '@mandate/server/*', '@mandate/cli', '**/server/**', '**/cli/**'],
                message: 'client-sdk imports contract only',
              },
            ],
          },
        ],
      },
    },
    {
      files: ['cli/**'],
      rules: {
        'no-restricted-imports': [
          'error',
          {
            patterns: [
              {
                group: [
                  '@mandate/server',
                  '@mandate/server/*',
                  '@mandate/contract',
                  '**/server/**',
                  '**/contract/**',
                  '!@mandate/contract/tools',
                  '!@modelcontextprotocol/server/stdio',
                ],
                message: 'cli imports client-sdk and the tools of contract only',
              },
            ],
          },
        ],
      },
    },
    {
      files: ['console/**'],
      rules: {
        'import/no-unassigned-import': ['error', { allow: ['**/*.css', '**/theme/import-component-library-stylesheets.ts'] }],
        'no-restricted-imports': [
          'error',
          {
            patterns: [
              {
                group: [
                  '@mandate/*',
                  '!@mandate/client-sdk',
                  '!@mandate/client-sdk/**',
                  '**/server/**',
                  '**/contract/**',
                  '**/client-sdk/**',
                  '**/cli/**',
                  '!@mandate/client-sdk/**',
                ],
                message: 'console imports client-sdk only, by its package name',
              },
            ],
          },
        ],
      },
    },
    {
      files: ['build-ignored-files.js', 'start-provided-node.js'],
      rules: {
        'node/no-process-env': 'off',
        'typescript/no-unsafe-assignment': 'off',
        'typescript/no-unsafe-argument': 'off',
        'typescript/no-unsafe-call': 'off',
        'typescript/no-unsafe-member-access': 'off',
        'typescript/no-unsafe-return': 'off',
      },
    },
    {
      files: ['server/database/migrations/**'],
      rules: { 'unicorn/filename-case': ['error', { case: 'snakeCase' }], 'max-lines-per-function': 'off', 'no-useless-escape': 'off' },
    },
    {
      files: [
        'server/config/read-config.ts',
        'examples/bff/src/main.ts',
        'test/support/**',
        'test/package/**',
        'test/deploy/**',
        'test/process/**',
        'test/console/**',
        'test/e2e/**',
        'test/shop/**',
        'test/retail/**',
        'test/generated-clients/**',
        'vitest.config.ts',
      ],
      rules: { 'node/no-process-env': 'off' },
    },
    {
      // This program runs outside the server process, so it reads the port from the environment itself.
      files: ['deploy/healthcheck.js'],
      rules: { 'node/no-process-env': 'off' },
    },
    {
      files: [
        'server/oauth/pages/assets/page-script.js',
        'server/docs/*.js',
        'cli/bin/mandate.js',
        'server/bin/mandate-server.js',
        'deploy/healthcheck.js',
      ],
      rules: {
        'typescript/no-unsafe-assignment': 'off',
        'typescript/no-unsafe-argument': 'off',
        'typescript/no-unsafe-call': 'off',
        'typescript/no-unsafe-member-access': 'off',
        'typescript/no-unsafe-return': 'off',
      },
    },
    // The rule is intended for `postMessage()` calls on a window; a broadcast channel has no target origin.
    { files: ['client-sdk/browser/**'], rules: { 'unicorn/require-post-message-target-origin': 'off' } },
    {
      files: ['vitest.config.ts', 'oxlint.config.ts', 'private-words.ts', 'console/vite.config.ts'],
      rules: { 'import/no-default-export': 'off' },
    },
    {
      files: ['test/**'],
      rules: {
        'unicorn/consistent-function-scoping': 'off',
        'max-lines-per-function': 'off',
        'typescript/no-unsafe-assignment': 'off',
        'typescript/no-unsafe-argument': 'off',
        'typescript/no-unsafe-call': 'off',
        'typescript/no-unsafe-member-access': 'off',
        'typescript/no-unsafe-return': 'off',
      },
    },
    {
      files: [
        'contract/index.ts',
        'server/schema/database-entities.ts',
        'server/app/resource-routes.ts',
        'client-sdk/index.ts',
        'client-sdk/authorization.ts',
        'client-sdk/v2.ts',
      ],
      rules: { 'oxc/no-barrel-file': 'off' },
    },
  ],
});
