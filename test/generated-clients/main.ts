/**
 * `npm run clients:generated` generates clients in Python, Go and Java from the OpenAPI 3.0 document, and compiles them with Debian
 * packages only. Each client then signs in, places an order on a new server, and reads the order. See docs/clients.md.
 */
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createOpenApi30Document } from '@mandate/contract/openapi';
import { z } from 'zod';
import { readFirstRunFile, startServerProcess, createDataDirectory } from '../support/server/server-process.ts';
import { generatorJar } from './generator.ts';
import { languages, type Language } from './languages.ts';
import { prepareDocument } from './prepare-document.ts';
import { run } from './run-command.ts';

const orderResult = z.object({
  id: z.number(),
  reference: z.string(),
  total: z.literal(850),
  status: z.literal('pending'),
  missing: z.literal('not_found'),
});
const printLine = (line: string): void => void process.stdout.write(`${line}\n`);

async function main(): Promise<void> {
  await requirePackages();
  await using data = await createDataDirectory();
  const work = await mkdtemp(join(tmpdir(), 'mandate-clients-'));
  const server = await startServerProcess({ MANDATE_DATA_DIR: data.path });
  try {
    const document = join(work, 'openapi.json');
    await prepareDocument(createOpenApi30Document('https://mandate.example'), document);
    const { client_id: id, client_secret: secret } = (await readFirstRunFile(data.path)).applications.administration;
    const env = { MANDATE_URL: server.url, CLIENT_ID: id, CLIENT_SECRET: secret, USER_ID: '2' };
    for (const language of languages) await testLanguage(language, document, join(work, language.name), env);
  } finally {
    await server.stop();
    await rm(work, { recursive: true, force: true });
  }
}

async function testLanguage(language: Language, document: string, folder: string, env: Readonly<Record<string, string>>): Promise<void> {
  const { name, version, options } = language;
  const began = Date.now();
  await mkdir(folder, { recursive: true });
  const jar = await generatorJar(version);
  await run('java', ['-jar', jar, 'generate', '-i', document, '-o', join(folder, 'generated'), ...options]);
  await language.build(folder);
  const order = orderResult.parse(JSON.parse(await language.order(folder, { ...env, KEY: `generated-${name}` })));
  const seconds = ((Date.now() - began) / 1000).toFixed(1);
  printLine(
    `${name}: generated, compiled, placed order ${order.id} (${order.reference}), total ${order.total}, read it back. ${seconds} s`,
  );
}

/** Throws an error with the names of missing Debian packages. */
async function requirePackages(): Promise<void> {
  const required = languages.flatMap(({ packages }) => packages);
  if (!existsSync('/usr/bin/dpkg-query')) return;
  const known = await run('dpkg-query', ['-W', '-f', '${Package}\t${db:Status-Status}\n']);
  const installed = new Set(known.split('\n').flatMap((line) => (line.endsWith('\tinstalled') ? [line.split('\t')[0]] : [])));
  // any Java development kit is sufficient
  const missing = required.filter((name) => !installed.has(name) && !(name === 'default-jdk-headless' && existsSync('/usr/bin/javac')));
  if (missing.length > 0) throw new Error(`Missing: apt-get install --no-install-recommends ${missing.join(' ')}`);
}

await main();
