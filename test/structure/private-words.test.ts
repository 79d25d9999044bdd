import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

const run = promisify(execFile);
const root = join(import.meta.dirname, '../..');
const folders = ['contract', 'server', 'client-sdk', 'cli', 'test'];

/** An empty project with this project's linter configuration. */
let project: string;
beforeAll(async () => {
  project = await mkdtemp(join(tmpdir(), 'mandate-private-words-'));
  for (const file of ['oxlint.config.ts', 'server-layers.ts', 'private-words.ts', 'tsconfig.json', 'package.json'])
    await cp(join(root, file), join(project, file));
  await symlink(join(root, 'node_modules'), join(project, 'node_modules'));
});
afterAll(() => rm(project, { recursive: true }));

/** Plants a file with this source in every folder, and returns the folders in which the linter reports a private word. */
async function foldersWithProblem(source: string): Promise<string[]> {
  for (const folder of folders) {
    await mkdir(join(project, folder), { recursive: true });
    await writeFile(join(project, folder, 'planted.ts'), source);
  }
  const { stdout } = await run(join(root, 'node_modules/.bin/oxlint'), folders, { cwd: project }).catch((error: unknown) => {
    if (error instanceof Error && 'stdout' in error) return { stdout: String(error.stdout) };
    throw error;
  });
  const problems = stdout.split('\n\n').filter((problem) => problem.includes('language(private-words)'));
  return folders.filter((folder) => problems.some((problem) => problem.includes(`${folder}/planted.ts`)));
}

describe('the linter rejects a private word', () => {
  test.each([
    ['in the name of a function', 'export const whatOfOrder = (): number => 1;\n'],
    ['in the name of a parameter', 'export const read = (twinId: number): number => twinId;\n'],
    ['in the name of a member', 'export class Order {\n  readonly #letGo = 1;\n  readonly total = this.#letGo;\n}\n'],
    ['in a comment', '// Waits until somebody has paid.\nexport const total = 1;\n'],
    ['in a comment of several lines', '/**\n * Revokes the token, so that it can be let\n * go.\n */\nexport const total = 1;\n'],
    ['in the title of a test', `import { test } from 'vitest';\n\ntest('nobody can read it', () => undefined);\n`],
    ['in the title of a group', `import { describe } from 'vitest';\n\ndescribe.each([1])('whoever sends %d', () => undefined);\n`],
  ])('%s', async (_where, source) => {
    expect(await foldersWithProblem(source)).toEqual(folders);
  });
});

test('the linter accepts the words in other places', async () => {
  const source = `/** Returns the orders of a longstanding customer; let input be any text. */\nexport const text = 'whoever reads this';\nexport const whatever = 1;\n`;
  expect(await foldersWithProblem(source)).toEqual([]);
});
