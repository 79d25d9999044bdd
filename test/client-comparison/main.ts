/**
 * `npm run clients:compare` compares the client and the assistant tools with those of other services, and replaces the tables in
 * docs/clients.md. The other packages are installed in a temporary folder. `-- --runs 5` sets the number of measured starts.
 */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { repositoryRoot } from '../package/pack-and-install.ts';
import { comparedToolServers, listComparedClients } from './compared-clients.ts';
import { renderClientTable, renderToolTable, replaceTable } from './comparison-tables.ts';
import { measureClient, type ClientMeasurement } from './measure-client.ts';
import { createTokenCounter, measureMandateTools, measureToolServer } from './measure-tools.ts';

const { values } = parseArgs({ options: { runs: { type: 'string', default: '15' } } });
const work = await mkdtemp(join(tmpdir(), 'mandate-comparison-'));
try {
  const clients: ClientMeasurement[] = [];
  for (const [at, client] of (await listComparedClients()).entries())
    clients.push(await measureClient(client, join(work, `client-${at}`), Number(values.runs)));
  const countTokens = await createTokenCounter(join(work, 'tokenizer'));
  const servers = measureMandateTools(countTokens);
  for (const [at, server] of comparedToolServers.entries())
    servers.push(await measureToolServer(server, join(work, `server-${at}`), countTokens));
  const tables = [
    ['Client libraries:', renderClientTable(clients)],
    ['Tools for assistants:', renderToolTable(servers)],
  ] as const;
  const path = join(repositoryRoot, 'docs/clients.md');
  let document = await readFile(path, 'utf8');
  for (const [line, table] of tables) {
    process.stdout.write(`${line}\n\n${table}\n\n`);
    document = replaceTable(document, line, table);
  }
  await writeFile(path, document);
} finally {
  await rm(work, { recursive: true, force: true });
}
