/**
 * `npm run clients:generated` generates clients in several languages from the unmodified OpenAPI document and compiles them. Each client
 * then lists products on a new server, places an order, and reads the order, a declared error and the event feed. Arguments select
 * generators by language, such as `Go`. See docs/clients.md.
 */
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createOpenApi30Document, createOpenApiDocument } from '@mandate/contract/openapi';
import { z } from 'zod';
import { readFirstRunFile, startServerProcess, createDataDirectory } from '../support/server/server-process.ts';
import type { ClientGenerator } from './client-generators.ts';
import { openApiGeneratorForCSharp } from './csharp-generator.ts';
import { oapiCodegen, openApiGeneratorForGo } from './go-generators.ts';
import { openApiGeneratorForJava } from './java-generator.ts';
import { openApiGeneratorForPython, openApiPythonClient } from './python-generators.ts';
import { isInstalled } from './run-command.ts';
import { openApiGeneratorForRust } from './rust-generator.ts';

const generators: readonly ClientGenerator[] = [
  openApiGeneratorForPython,
  openApiPythonClient,
  openApiGeneratorForGo,
  oapiCodegen,
  openApiGeneratorForJava,
  openApiGeneratorForRust,
  openApiGeneratorForCSharp,
];

const programResult = z.object({
  id: z.number(),
  reference: z.string(),
  total: z.literal(250),
  status: z.literal('pending'),
  products: z.number().min(1),
  missing: z.literal('not_found'),
  event_reference: z.string(),
  known_events: z.number(),
  events: z.number().min(1),
});
const printRow = (cells: readonly (string | number)[]): void => void process.stdout.write(`| ${cells.join(' | ')} |\n`);

async function main(): Promise<void> {
  await using data = await createDataDirectory();
  const work = await mkdtemp(join(tmpdir(), 'mandate-clients-'));
  const server = await startServerProcess({ MANDATE_DATA_DIR: data.path });
  try {
    await writeFile(join(work, 'openapi-3.1.json'), JSON.stringify(createOpenApiDocument(server.url)));
    await writeFile(join(work, 'openapi-3.0.json'), JSON.stringify(createOpenApi30Document(server.url)));
    const { client_id: id, client_secret: secret } = (await readFirstRunFile(data.path)).applications.administration;
    const env = { MANDATE_URL: server.url, CLIENT_ID: id, CLIENT_SECRET: secret, USER_ID: '2' };
    const languages = process.argv.slice(2);
    printRow(['generator', 'language', 'document', 'lines', 'generated in', 'compiled in', 'order', 'typed events']);
    printRow(Array<string>(8).fill('---'));
    for (const [index, generator] of generators.entries())
      if (languages.length === 0 || languages.includes(generator.language)) await testGenerator(generator, join(work, String(index)), env);
  } finally {
    await server.stop();
    await rm(work, { recursive: true, force: true });
  }
}

/** Prints a generator's table row. A failure is printed instead of thrown, so that the remaining generators run. */
async function testGenerator(generator: ClientGenerator, folder: string, env: Readonly<Record<string, string>>): Promise<void> {
  const { name, version, language, document, extension } = generator;
  const start = [`${name} ${version}`, language, document];
  const missing = generator.commands.filter((command) => !isInstalled(command));
  if (missing.length > 0) return printRow([...start, `not run, because these commands are missing: ${missing.join(', ')}`, '', '', '', '']);
  try {
    await mkdir(folder);
    const generated = await measureSeconds(() => generator.generate(folder, join(folder, '..', `openapi-${document}.json`)));
    const lines = await countLines(join(folder, 'generated'), extension);
    const { compile, run } = generator;
    if (!compile || !run) return printRow([...start, lines, generated, 'not compiled', 'not placed', 'not tested']);
    const compiled = await measureSeconds(() => compile(folder));
    const key = `generated-${name}-${language}`.replaceAll(/[^A-Za-z]+/g, '-');
    const result = programResult.parse(JSON.parse(await run(folder, { ...env, KEY: key })));
    if (result.reference !== key || result.event_reference !== key) throw new Error(`unexpected references: ${JSON.stringify(result)}`);
    printRow([...start, lines, generated, compiled, result.id, `${result.known_events} of ${result.events}`]);
  } catch (error) {
    printRow([...start, 'failed', '', '', '', '']);
    process.stderr.write(`${name}, ${language}: ${String(error)}\n`);
    process.exitCode = 1;
  }
}

async function measureSeconds(action: () => Promise<void>): Promise<string> {
  const start = performance.now();
  await action();
  return `${((performance.now() - start) / 1000).toFixed(0)} s`;
}

async function countLines(folder: string, extension: string): Promise<number> {
  const files = (await readdir(folder, { recursive: true })).filter((name) => name.endsWith(extension));
  const texts = await Promise.all(files.map((name) => readFile(join(folder, name), 'utf8')));
  return texts.reduce((sum, text) => sum + text.split('\n').length - 1, 0);
}

await main();
