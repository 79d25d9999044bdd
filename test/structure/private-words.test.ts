import { describe, expect, test } from 'vitest';
import { withLintProject } from './lint-project.ts';

const folders = ['contract', 'server', 'client-sdk', 'cli', 'test'];
const lint = withLintProject();

/** Plants a file with the given source in every folder, and returns the folders in which the linter reports a nonstandard term. */
async function foldersWithProblem(source: string): Promise<string[]> {
  const stdout = await lint(Object.fromEntries(folders.map((folder) => [`${folder}/planted.ts`, source])), folders);
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
