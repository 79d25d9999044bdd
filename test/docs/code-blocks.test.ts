/** Every code block of the documents is run, type-checked, validated or compared, or marked with the reason why not. */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { glob, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parse as parseYaml } from 'yaml';
import { z } from 'zod';
import { exitCodes } from '../../cli/errors/exit-codes.ts';
import { createConfigDirectory, runInProcess } from '../cli/run-command-line.ts';
import { startMandate } from '../support/server/start-mandate.ts';
import { codeBlocksOf, type CodeBlock, repository } from '../support/markdown.ts';
import { notRun, preludes, runElsewhere } from './documented-blocks.ts';

const ignored = /(^|\/)(node_modules|dist|data)\//;
const blocks: CodeBlock[] = [];
for await (const file of glob('**/*.md', { cwd: repository, exclude: (name) => ignored.test(`${name}/`) }))
  blocks.push(...(await codeBlocksOf(file)));
const marked = new Set([...Object.keys(runElsewhere), ...Object.keys(notRun)]);

const inLanguages = (...languages: string[]) =>
  blocks.filter(({ language }) => languages.includes(language)).map((one) => [one.name, one] as const);
const compared = ['ARCHITECTURE.md: contract/     the API: paths, bodies, errors and scopes. No I/O; runs in a browser.'];
const ofCommands = ['sh', 'bash', ''];
const checkedByLanguage = ['ts', 'json', 'yaml', ...ofCommands];

test('there are documents with code blocks, each with a name of its own', () => {
  expect(blocks.length).toBeGreaterThan(20);
  const names = blocks.map(({ name }) => name);
  expect(names.filter((name, at) => names.indexOf(name) !== at)).toEqual([]);
});

test('every mark belongs to a block, and names a file that exists', () => {
  const names = new Set(blocks.map(({ name }) => name));
  expect([...marked, ...Object.keys(preludes), ...compared].filter((name) => !names.has(name))).toEqual([]);
  for (const path of Object.values(runElsewhere)) expect([path, existsSync(join(repository, path))]).toEqual([path, true]);
});

test.each(blocks.map((one) => [one.name, one] as const))('%s is checked', (name, { language }) => {
  expect(marked.has(name) || checkedByLanguage.includes(language), `say in test/docs/documented-blocks.ts what checks it`).toBe(true);
});

describe('TypeScript', () => {
  let folder = '';
  beforeAll(async () => void (folder = await mkdtemp(join(repository, 'test', 'docs', '.blocks-'))));
  afterAll(() => rm(folder, { recursive: true, force: true }));

  test('every block compiles, and a wrong one would not', { timeout: 120_000 }, async () => {
    const compilerOptions = { rootDir: repository, noUnusedLocals: false, lib: ['es2024', 'esnext.disposable', 'dom', 'dom.iterable'] };
    await writeFile(
      join(folder, 'tsconfig.json'),
      JSON.stringify({ extends: join(repository, 'tsconfig.json'), compilerOptions, include: ['*.ts'] }),
    );
    const sources = inLanguages('ts').map(
      ([name, { text }], at) => [`block-${at}.ts`, `// ${name}\n${preludes[name] ?? ''}\nexport {};\n${text}`] as const,
    );
    expect(sources.length).toBeGreaterThan(5);
    for (const [file, source] of sources) await writeFile(join(folder, file), source);
    await writeFile(join(folder, 'wrong.ts'), `${sources[0]?.[1]}\nmandate.orders.nothing();\n`);
    const { stdout } = spawnSync(process.execPath, [join(repository, 'node_modules/typescript/bin/tsc'), '-p', folder], {
      encoding: 'utf8',
    });
    expect(stdout.trim().split('\n')).toEqual([expect.stringMatching(/wrong\.ts.*TS2339/)]);
  });
});

describe('data', () => {
  test.each(inLanguages('json'))('%s is JSON', (_name, { text }) => {
    expect(() => void JSON.parse(text)).not.toThrow();
  });
  test.skipIf(inLanguages('yaml').length === 0).each(inLanguages('yaml'))('%s is YAML', (_name, { text }) => {
    expect(() => void parseYaml(text)).not.toThrow();
  });

  test('the list of versions is the one that the server returns', async () => {
    const shown = blocks.find(({ file, language }) => file === 'docs/versioning.md' && language === 'json');
    const mandate = await startMandate();
    expect(JSON.parse(shown?.text ?? '')).toEqual((await mandate.call('GET', '/api')).body);
    await mandate.close();
  });

  test('the folders of the architecture are those of the repository', async () => {
    const shown = blocks.find(({ name }) => name === compared[0]);
    const folders = Array.from((shown?.text ?? '').matchAll(/^([\w-]+)\/ /gm), ([, name = '']) => name);
    const entries = await readdir(repository, { withFileTypes: true });
    expect(folders.toSorted().filter((name) => !entries.some((entry) => entry.isDirectory() && entry.name === name))).toEqual([]);
  });
});

describe('commands', () => {
  const commandBlocks = blocks.filter(({ name, language }) => ofCommands.includes(language) && !compared.includes(name));
  const unmarked = commandBlocks.filter(({ name }) => !marked.has(name));

  test.each(commandBlocks.map((one) => [one.name, one] as const))('%s is valid for a shell', (_name, { text }) => {
    const { stderr, status } = spawnSync('bash', ['-n', '-c', text], { encoding: 'utf8' });
    expect({ stderr, status }).toEqual({ stderr: '', status: 0 });
  });

  test.each(commandBlocks.map((one) => [one.name, one] as const))('%s names files of the repository that exist', (_name, { text }) => {
    const paths = text.match(/(?<=[\s=])(?:deploy|examples|contract|server|cli)\/[\w./-]*\w/g) ?? [];
    expect(paths.filter((path) => !existsSync(join(repository, path)))).toEqual([]);
  });

  test.each(unmarked.map((one) => [one.name, one] as const))('every command of %s would be accepted', async (_name, block) => {
    for (const words of commandsIn(block)) expect([words.join(' '), await faultOf(words)]).toEqual([words.join(' '), undefined]);
  });

  test('a command, flag or script that does not exist is found', async () => {
    expect(await faultOf(['mandate', 'orders', 'lst'])).toContain('lst');
    expect(await faultOf(['mandate', 'orders', 'list', '--colour', 'red'])).toContain('--colour');
    expect(await faultOf(['npm', 'run', 'nothing'])).toContain('nothing');
    expect(await faultOf(['make'])).toContain('make');
  });
});

/** The words of each command as a shell reads them. */
function commandsIn({ text }: CodeBlock): string[][] {
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

/** Why a command would be rejected. `mandate` runs without a service and a sign-in: whatever else it fails with, it was understood. */
async function faultOf([program, ...argv]: readonly string[]): Promise<string | undefined> {
  if (program === 'npm') return npmFault(argv);
  if (program !== 'mandate') return `${program} is not one of our programs: say in test/docs/documented-blocks.ts what checks it`;
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

async function npmFault(argv: readonly string[]): Promise<string | undefined> {
  const [verb = '', name] = argv;
  if (verb === 'ci') return undefined;
  const script = verb === 'run' ? (name ?? '') : verb;
  const workspace = argv.includes('-w') ? (argv[argv.indexOf('-w') + 1] ?? '') : '.';
  const { scripts } = manifest.parse(JSON.parse(await readFile(join(repository, workspace, 'package.json'), 'utf8')));
  return script in scripts ? undefined : `there is no script ${script}`;
}
