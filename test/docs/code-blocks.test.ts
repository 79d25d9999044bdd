/**
 * Tests that every code block in the documents is run, type-checked, validated or compared, or is listed with the reason why it is not
 * tested.
 */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { glob, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parse as parseYaml } from 'yaml';
import { z } from 'zod';
import { exitCodes } from '../../cli/errors/exit-codes.ts';
import { createConfigDirectory, runInProcess } from '../cli/run-command-line.ts';
import { startMandateServer } from '../support/server/start-mandate.ts';
import { readCodeBlocks, type CodeBlock, repositoryRoot } from '../support/markdown.ts';
import { executedDocuments, notRun, preludes, runElsewhere } from './documented-blocks.ts';

const ignored = /(^|\/)(node_modules|dist|data)\//;
const blocks: CodeBlock[] = [];
for await (const file of glob('**/*.md', { cwd: repositoryRoot, exclude: (name) => ignored.test(`${name}/`) }))
  blocks.push(...(await readCodeBlocks(file)));
const listed = new Set([...Object.keys(runElsewhere), ...Object.keys(notRun)]);

const blocksInLanguages = (...languages: string[]) =>
  blocks.filter(({ language }) => languages.includes(language)).map((one) => [one.name, one] as const);
const comparedBlocks = ['ARCHITECTURE.md: contract/     the API: paths, bodies, errors and scopes. No I/O; runs in a browser.'];
const commandLanguages = ['sh', 'bash', ''];
const checkedByLanguage = ['ts', 'json', 'yaml', ...commandLanguages];

test('the documents have code blocks with unique names', () => {
  expect(blocks.length).toBeGreaterThan(20);
  const names = blocks.map(({ name }) => name);
  expect(names.filter((name, at) => names.indexOf(name) !== at)).toEqual([]);
});

test('every listed block exists, and refers to an existing file', () => {
  const names = new Set(blocks.map(({ name }) => name));
  expect([...listed, ...Object.keys(preludes), ...comparedBlocks].filter((name) => !names.has(name))).toEqual([]);
  for (const path of Object.values(runElsewhere)) expect([path, existsSync(join(repositoryRoot, path))]).toEqual([path, true]);
});

test.each(blocks.map((one) => [one.name, one] as const))('%s is checked', (name, { file, language }) => {
  expect(
    listed.has(name) || executedDocuments.includes(file) || checkedByLanguage.includes(language),
    `list its test in test/docs/documented-blocks.ts`,
  ).toBe(true);
});

describe('TypeScript', () => {
  let folder = '';
  beforeAll(async () => void (folder = await mkdtemp(join(repositoryRoot, 'test', 'docs', '.blocks-'))));
  afterAll(() => rm(folder, { recursive: true, force: true }));

  test('every block compiles, and an invalid one fails', { timeout: 120_000 }, async () => {
    const compilerOptions = { rootDir: repositoryRoot, noUnusedLocals: false, lib: ['es2024', 'esnext.disposable', 'dom', 'dom.iterable'] };
    await writeFile(
      join(folder, 'tsconfig.json'),
      JSON.stringify({ extends: join(repositoryRoot, 'tsconfig.json'), compilerOptions, include: ['*.ts'] }),
    );
    const sources = blocksInLanguages('ts').map(
      ([name, { text }], at) => [`block-${at}.ts`, `// ${name}\n${preludes[name] ?? ''}\nexport {};\n${text}`] as const,
    );
    expect(sources.length).toBeGreaterThan(5);
    for (const [file, source] of sources) await writeFile(join(folder, file), source);
    const [, clientSource = ''] = sources.find(([, source]) => source.includes('const mandate = createClient(')) ?? [];
    await writeFile(join(folder, 'wrong.ts'), `${clientSource}\nmandate.orders.nothing();\n`);
    const { stdout } = spawnSync(process.execPath, [join(repositoryRoot, 'node_modules/typescript/bin/tsc'), '-p', folder], {
      encoding: 'utf8',
    });
    expect(stdout.trim().split('\n')).toEqual([expect.stringMatching(/wrong\.ts.*TS2339/)]);
  });
});

describe('data', () => {
  test.each(blocksInLanguages('json'))('%s is JSON', (_name, { text }) => {
    expect(() => void JSON.parse(text)).not.toThrow();
  });
  test.skipIf(blocksInLanguages('yaml').length === 0).each(blocksInLanguages('yaml'))('%s is YAML', (_name, { text }) => {
    expect(() => void parseYaml(text)).not.toThrow();
  });

  test('the list of versions equals the response of the server', async () => {
    const documentedBlock = blocks.find(({ file, language }) => file === 'docs/versioning.md' && language === 'json');
    const mandate = await startMandateServer();
    expect(JSON.parse(documentedBlock?.text ?? '')).toEqual((await mandate.callApi('GET', '/api')).body);
    await mandate.close();
  });

  test('the folders in ARCHITECTURE.md exist', async () => {
    const documentedBlock = blocks.find(({ name }) => name === comparedBlocks[0]);
    const folders = Array.from((documentedBlock?.text ?? '').matchAll(/^([\w-]+)\/ /gm), ([, name = '']) => name);
    const entries = await readdir(repositoryRoot, { withFileTypes: true });
    expect(folders.toSorted().filter((name) => !entries.some((entry) => entry.isDirectory() && entry.name === name))).toEqual([]);
  });
});

describe('commands', () => {
  const commandBlocks = blocks.filter(({ name, language }) => commandLanguages.includes(language) && !comparedBlocks.includes(name));
  const unlisted = commandBlocks.filter(({ name, file }) => !listed.has(name) && !executedDocuments.includes(file));

  test.each(commandBlocks.map((one) => [one.name, one] as const))('%s has valid shell syntax', (_name, { text }) => {
    const { stderr, status } = spawnSync('bash', ['-n', '-c', text], { encoding: 'utf8' });
    expect({ stderr, status }).toEqual({ stderr: '', status: 0 });
  });

  test.each(commandBlocks.map((one) => [one.name, one] as const))('%s refers to existing files of the repository', (_name, { text }) => {
    const paths = text.match(/(?<=[\s=])(?:deploy|examples|contract|server|cli)\/[\w./-]*\w/g) ?? [];
    expect(paths.filter((path) => !existsSync(join(repositoryRoot, path)))).toEqual([]);
  });

  test.each(unlisted.map((one) => [one.name, one] as const))('every command of %s is accepted', async (_name, block) => {
    for (const words of splitCommands(block)) expect([words.join(' '), await rejectionReason(words)]).toEqual([words.join(' '), undefined]);
  });

  test('an unknown command, flag or script is detected', async () => {
    expect(await rejectionReason(['mandate', 'orders', 'lst'])).toContain('lst');
    expect(await rejectionReason(['mandate', 'orders', 'list', '--colour', 'red'])).toContain('--colour');
    expect(await rejectionReason(['npm', 'run', 'nothing'])).toContain('nothing');
    expect(await rejectionReason(['make'])).toContain('make');
  });
});

/** Splits each command into words, like a shell. */
function splitCommands({ text }: CodeBlock): string[][] {
  const programs = ['npx', 'mandate', 'npm'];
  const echo = programs.map((name) => `${name}() { printf '%s\\0' ${name} "$@"; printf '\\n\\0'; }`).join('\n');
  const others = `command_not_found_handle() { printf '%s\\0' "$@"; printf '\\n\\0'; }`;
  const { stdout, stderr } = spawnSync('bash', ['-c', `PATH=\n${others}\n${echo}\n${text}`], { encoding: 'utf8' });
  if (stderr !== '') throw new Error(stderr);
  return stdout
    .split('\n\0')
    .slice(0, -1)
    .map((command) => command.split('\0').slice(0, -1))
    .map((words) => (words[0] === 'npx' ? words.slice(1) : words));
}

/**
 * Returns the reason why a command is rejected, or `undefined` if the command is accepted. `mandate` runs without a server or a sign-in, so
 * only usage errors count as rejections.
 */
async function rejectionReason([program, ...argv]: readonly string[]): Promise<string | undefined> {
  if (program === 'npm') return npmRejectionReason(argv);
  if (program !== 'mandate') return `${program} is not a program of this project: list its test in test/docs/documented-blocks.ts`;
  await using home = await createConfigDirectory();
  const env = { MANDATE_API_URL: 'http://127.0.0.1:1', MANDATE_CONFIG_DIR: home.path };
  const [group, verb, file] = argv;
  const fromFile = verb === 'import' && file !== undefined ? argv.map((word) => (word === file ? '-' : word)) : argv;
  const format = verb === 'import' ? ['--format', 'csv'] : [];
  const timeout = group === 'login' ? ['--no-browser'] : [];
  const { exitCode, stderr } = await runInProcess([...fromFile, ...format, ...timeout], { env, stdin: 'sku\n' });
  return exitCode === exitCodes.usage ? stderr : undefined;
}

const manifest = z.object({ scripts: z.record(z.string()).default({}) });

async function npmRejectionReason(argv: readonly string[]): Promise<string | undefined> {
  const [verb = '', name] = argv;
  if (verb === 'ci') return undefined;
  const script = verb === 'run' ? (name ?? '') : verb;
  const workspace = argv.includes('-w') ? (argv[argv.indexOf('-w') + 1] ?? '') : '.';
  const { scripts } = manifest.parse(JSON.parse(await readFile(join(repositoryRoot, workspace, 'package.json'), 'utf8')));
  return script in scripts ? undefined : `the script ${script} does not exist`;
}
