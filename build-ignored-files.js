/**
 * `npm run build` writes the generated files that Git ignores because they need no review, and builds the console. `npm ci`, the tests and
 * the checks run this script. If the sources have not changed since the last build, nothing is built. With `--without-console`, the console
 * is not built.
 */
import { createHash } from 'node:crypto';
// This is a default import, because Node 20 lacks `globSync`. Node 20 is used only to start the installed Node 24.
import fs from 'node:fs';
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { startProvidedNode } from './start-provided-node.js';

const root = import.meta.dirname;
const ignoredFiles = [
  'client-sdk/schema/types.gen.ts',
  'client-sdk/schema/types-v2.gen.ts',
  'cli/mcp/tools.gen.ts',
  'cli/completion/completion.gen.ts',
  'server/languages/messages.gen.ts',
  ...['models.py', 'resources.py', '_version.py'].map((name) => `clients/python/src/mandate_client/${name}`),
];
/** This file contains the hash of the sources at the last build. `npm ci` deletes the file when it deletes `node_modules`. */
const hashFile = 'node_modules/.cache/mandate-ignored-files.sha256';
const consoleHashFile = 'node_modules/.cache/mandate-console.sha256';

async function buildIgnoredFiles() {
  const hash = await hashSources();
  if (ignoredFiles.every((file) => fs.existsSync(join(root, file))) && hash === (await readHash(hashFile))) return;
  const { renderTypesFiles } = await import('./client-sdk/codegen/render-types-files.ts');
  for (const [name, source] of Object.entries(await renderTypesFiles())) await replaceFile(`client-sdk/schema/${name}`, source);
  const { renderMcpToolsSource } = await import('./cli/build/generate-mcp-tools.ts');
  await replaceFile('cli/mcp/tools.gen.ts', await renderMcpToolsSource());
  const { renderCompletionTreeSource } = await import('./cli/build/render-completion-tree-source.ts');
  await replaceFile('cli/completion/completion.gen.ts', await renderCompletionTreeSource());
  const { generateMessageTypes } = await import('./server/languages/generate-message-types.ts');
  await replaceFile('server/languages/messages.gen.ts', generateMessageTypes());
  const { renderPythonClient } = await import('./clients/python/codegen/render-python-client.ts');
  for (const [name, source] of Object.entries(renderPythonClient())) await replaceFile(`clients/python/src/mandate_client/${name}`, source);
  await replaceFile(hashFile, hash);
}

/** Builds the console, unless its sources have not changed since the last build. */
async function buildConsole() {
  const output = join(root, 'console/dist');
  const sources = await hashFiles(
    fs.globSync(['console/**/*.{ts,tsx,css,json}', 'client-sdk/**/*.ts'], { cwd: root, exclude: isGeneratedFolder }),
  );
  if (fs.existsSync(join(output, 'manifest.json')) && sources === (await readHash(consoleHashFile))) return;
  // In a test run, Vite would include the development version of React.
  process.env.NODE_ENV = 'production';
  const { build } = await import('vite');
  // The console is built in another folder, so that a running server never serves a partly built console.
  const newOutput = `${output}.${process.pid}`;
  await build({ root: join(root, 'console'), logLevel: 'error', build: { outDir: newOutput, emptyOutDir: true } });
  await rm(output, { recursive: true, force: true });
  await rename(newOutput, output);
  await replaceFile(consoleHashFile, sources);
}

function hasDevelopmentPackages() {
  try {
    createRequire(join(root, 'client-sdk/package.json')).resolve('openapi-typescript/package.json');
    return true;
  } catch {
    return false;
  }
}

const isGeneratedFolder = (path) => /node_modules|dist$/.test(path);

/**
 * Returns a hash of everything on which the generated files depend, that is, the sources of `contract`, `client-sdk`, `cli` and `clients`,
 * the message catalogs, and all package versions.
 */
async function hashSources() {
  const sources = fs.globSync(['{contract,client-sdk,cli,clients}/**/*.{ts,json}', 'server/languages/**/*.{ts,json}', 'package.json'], {
    cwd: root,
    exclude: isGeneratedFolder,
  });
  return hashFiles(sources.filter((source) => !ignoredFiles.includes(source)));
}

async function hashFiles(files) {
  const hash = createHash('sha256');
  for (const file of [...files.toSorted(), 'package-lock.json']) hash.update(`${file}\0`).update(await readFile(join(root, file)));
  return hash.digest('hex');
}

const readHash = (file) => readFile(join(root, file), 'utf8').catch(() => undefined);

/** Replaces a file atomically, so that concurrent readers never see a partial file. */
async function replaceFile(file, content) {
  const path = join(root, file);
  await mkdir(dirname(path), { recursive: true });
  await writeFile(`${path}.${process.pid}`, content);
  await rename(`${path}.${process.pid}`, path);
}

if (!hasDevelopmentPackages())
  process.stderr.write(
    'The generated types, tools and completions, and the console, are not built without development packages. The server does not need them.\n',
  );
else if (Number.parseInt(process.versions.node, 10) >= 24) {
  await buildIgnoredFiles();
  if (!process.argv.includes('--without-console')) await buildConsole();
} else startProvidedNode(import.meta.url, 'npm run build', 24);
