import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll } from 'vitest';
import { z } from 'zod';

const run = promisify(execFile);
const root = join(import.meta.dirname, '../..');
const configurationFiles = ['oxlint.config.ts', 'server-layers.ts', 'private-words.ts', 'tsconfig.json', 'package.json'];

/**
 * Creates a temporary project with this repository's lint rules before the tests. The returned function plants the files, lints `paths`
 * (default: the planted files), removes the planted files, and returns the linter's output.
 */
export function withLintProject(): (files: Readonly<Record<string, string>>, paths?: readonly string[]) => Promise<string> {
  let project: string;
  beforeAll(async () => {
    project = await mkdtemp(join(tmpdir(), 'mandate-structure-'));
    for (const file of configurationFiles) await cp(join(root, file), join(project, file));
    await symlink(join(root, 'node_modules'), join(project, 'node_modules'));
  });
  afterAll(() => rm(project, { recursive: true }));
  return async (files, paths = Object.keys(files)) => {
    for (const [path, source] of Object.entries(files)) {
      await mkdir(dirname(join(project, path)), { recursive: true });
      await writeFile(join(project, path), source);
    }
    try {
      return (await run(join(root, 'node_modules/.bin/oxlint'), [...paths], { cwd: project })).stdout;
    } catch (error) {
      if (error instanceof Error && 'stdout' in error) return String(error.stdout);
      throw error;
    } finally {
      for (const path of Object.keys(files)) await rm(join(project, path));
    }
  };
}

const reportSchema = z.object({
  diagnostics: z.array(z.object({ filename: z.string(), code: z.string(), message: z.string(), help: z.string().optional() })),
});

/**
 * Lints files in one run of the linter, before the tests, because each run takes time to start. The returned function adds a file to this
 * run, and returns a function that returns the messages about this file. A number is added to the file's name, so that the function can be
 * called several times with the same path.
 */
export function withLintedFiles(): (path: string, source: string) => () => string {
  const lint = withLintProject();
  const files: Record<string, string> = {};
  let diagnostics: z.infer<typeof reportSchema>['diagnostics'];
  beforeAll(async () => {
    ({ diagnostics } = reportSchema.parse(JSON.parse(await lint(files, ['--format=json', ...Object.keys(files)]))));
  });
  return (path, source) => {
    const name = path.replace(/\.ts$/, `-${Object.keys(files).length}.ts`);
    files[name] = source;
    return () =>
      diagnostics
        .filter(({ filename }) => filename === name)
        .map(({ code, message, help }) => `${code}: ${message} ${help ?? ''}`)
        .join('\n');
  };
}
