/**
 * `npm run clients:generated`: generates a client in Python, Go and Java from the OpenAPI 3.0 document, compiles it with nothing but
 * Debian's packages, and has it sign in, place an order on a server of its own and read it back. See docs/clients.md.
 */
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createOpenApi30Document } from '@mandate/contract/openapi';
import { z } from 'zod';
import { readFirstRun, startServer, temporaryDataDirectory } from '../support/server/server-process.ts';
import { generatorJar } from './generator.ts';
import { languages, type Language } from './languages.ts';
import { prepareDocument } from './prepare-document.ts';
import { run } from './run.ts';

const said = z.object({
  id: z.number(),
  reference: z.string(),
  total: z.literal(850),
  status: z.literal('pending'),
  missing: z.literal('not_found'),
});
const tell = (line: string): void => void process.stdout.write(`${line}\n`);

async function main(): Promise<void> {
  await requirePackages();
  await using data = await temporaryDataDirectory();
  const work = await mkdtemp(join(tmpdir(), 'mandate-clients-'));
  const server = await startServer({ MANDATE_DATA_DIR: data.path });
  try {
    const document = join(work, 'openapi.json');
    await prepareDocument(createOpenApi30Document('https://mandate.example'), document);
    const { client_id: id, client_secret: secret } = (await readFirstRun(data.path)).applications.administration;
    const env = { MANDATE_URL: server.url, CLIENT_ID: id, CLIENT_SECRET: secret, USER_ID: '2' };
    for (const language of languages) await tryOut(language, document, join(work, language.name), env);
  } finally {
    await server.stop();
    await rm(work, { recursive: true, force: true });
  }
}

async function tryOut(language: Language, document: string, folder: string, env: Readonly<Record<string, string>>): Promise<void> {
  const { name, version, options } = language;
  const began = Date.now();
  await mkdir(folder, { recursive: true });
  const jar = await generatorJar(version);
  await run('java', ['-jar', jar, 'generate', '-i', document, '-o', join(folder, 'generated'), ...options]);
  await language.build(folder);
  const order = said.parse(JSON.parse(await language.order(folder, { ...env, KEY: `generated-${name}` })));
  const seconds = ((Date.now() - began) / 1000).toFixed(1);
  tell(`${name}: generated, compiled, placed order ${order.id} (${order.reference}), total ${order.total}, read it back. ${seconds} s`);
}

/** Says at once which of Debian's packages are missing. */
async function requirePackages(): Promise<void> {
  const wanted = languages.flatMap(({ packages }) => packages);
  if (!existsSync('/usr/bin/dpkg-query')) return;
  const known = await run('dpkg-query', ['-W', '-f', '${Package}\t${db:Status-Status}\n']);
  const installed = new Set(known.split('\n').flatMap((line) => (line.endsWith('\tinstalled') ? [line.split('\t')[0]] : [])));
  // any Java development kit will do
  const missing = wanted.filter((name) => !installed.has(name) && !(name === 'default-jdk-headless' && existsSync('/usr/bin/javac')));
  if (missing.length > 0) throw new Error(`Missing: apt-get install --no-install-recommends ${missing.join(' ')}`);
}

await main();
