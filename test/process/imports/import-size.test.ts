import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { createMigratedPostgresqlUrl, serverDatabaseKinds } from '../../support/services/database.ts';
import { onlineRetailRules } from '../../retail/import-month.ts';
import type { JsonBody } from '../../support/server/start-mandate.ts';
import {
  obtainAdministrationToken,
  killServerProcesses,
  startServerProcess,
  createDataDirectory,
} from '../../support/server/server-process.ts';
import { waitUntil } from '../../support/wait-until.ts';

afterEach(killServerProcesses);

/** Number of lines; `MANDATE_IMPORT_LINES=400000` simulates a year of orders. */
const lines = Number(process.env['MANDATE_IMPORT_LINES'] ?? 20_000);
const linesOfOrder = 18;
const residentMax = 600_000_000;

async function* orderLines(): AsyncGenerator<Uint8Array> {
  const encoder = new TextEncoder();
  yield encoder.encode('InvoiceNo,StockCode,Description,Quantity,InvoiceDate,UnitPrice,CustomerID,Country\n');
  for (let from = 0; from < lines; from += 1000) {
    const rows = Array.from({ length: Math.min(1000, lines - from) }, (_, n) => {
      const [order, line] = [Math.floor((from + n) / linesOfOrder), (from + n) % linesOfOrder];
      const sku = (order * 7 + line * 131) % 4000;
      return `${536_000 + order},S-${sku},"PRODUCT ${sku}, RETROSPOT",${1 + (line % 12)},2010-12-01 08:26,${(sku % 900) / 100 + 0.1},C-${order % 4300},United Kingdom\n`.replace(
        /(\.\d\d)\d*,C-/,
        '$1,C-',
      );
    });
    yield encoder.encode(rows.join(''));
  }
}

async function* productLines(): AsyncGenerator<Uint8Array> {
  const encoder = new TextEncoder();
  yield encoder.encode('sku,name,category,price,currency\n');
  for (let from = 0; from < lines; from += 1000) {
    const rows = Array.from({ length: Math.min(1000, lines - from) }, (_, n) => `P-${from + n},Product ${from + n},many,${n},GBP\n`);
    yield encoder.encode(rows.join(''));
  }
}

const megabytes = (bytes: number): string => `${Math.round(bytes / 1e6)} MB`;

const importQuery = new URLSearchParams({ source: 'year', ...onlineRetailRules }).toString();

/** Returns the Node arguments that `npm start` uses. */
const startArguments = async (): Promise<string[]> => {
  const { scripts } = JSON.parse(await readFile(join(import.meta.dirname, '../../../package.json'), 'utf8'));
  return String(scripts.start).split(' ').slice(1);
};

/** Returns a process's peak resident memory, in bytes. */
const peakResidentBytes = async (pid: number): Promise<number> =>
  Number(/VmHWM:\s+(\d+) kB/.exec(await readFile(`/proc/${pid}/status`, 'utf8'))?.[1]) * 1024;

/** Returns a function that returns the CPU time that the process has used since the previous call, in hundredths of a second. */
function createCpuTickCounter(pid: number): () => Promise<number> {
  let total = 0;
  return async () => {
    const [, fields = ''] = (await readFile(`/proc/${pid}/stat`, 'utf8')).split(') ');
    const before = total;
    total = Number(fields.split(' ')[11]) + Number(fields.split(' ')[12]);
    return total - before;
  };
}

describe.each(serverDatabaseKinds)(`files of ${lines} lines, on %s`, { timeout: 3_600_000 }, (databaseKind) => {
  test.each([
    ['orders', `order-imports?${importQuery}`, orderLines],
    ['products', 'product-imports?', productLines],
  ])('%s are imported and exported in bounded memory', async (kind, path, rows) => {
    await using data = await createDataDirectory();
    const database = databaseKind === 'postgresql' ? { DATABASE_URL: await createMigratedPostgresqlUrl() } : {};
    const environment = { MANDATE_DATA_DIR: data.path, ...database };
    const server = await startServerProcess(environment, await startArguments());
    const started = await peakResidentBytes(server.pid);
    // compiling the embedded database uses more memory than an import, so measure only when the server is idle
    const newCpuTicks = createCpuTickCounter(server.pid);
    await expect.poll(newCpuTicks, { interval: 500, timeout: 60_000 }).toBeLessThan(5);
    await writeFile(`/proc/${server.pid}/clear_refs`, '5');
    const idle = await peakResidentBytes(server.pid);
    process.stdout.write(`${databaseKind}: up to ${megabytes(started)} resident while starting, ${megabytes(idle)} afterwards\n`);
    const call = async (method: string, at: string, content?: { type: string; body: string | ReadableStream }): Promise<Response> => {
      const authorization = `Bearer ${await obtainAdministrationToken(server.url, data.path)}`;
      const headers = { authorization, ...(content && { 'content-type': content.type }) };
      const request: RequestInit & { duplex: 'half' } = { method, headers, duplex: 'half', ...(content && { body: content.body }) };
      return fetch(`${server.url}/api/v1/${at}`, request);
    };
    const finished = async (accepted: Response): Promise<JsonBody> => {
      const text = await accepted.text();
      expect(accepted.status, text).toBe(202);
      const { id } = JSON.parse(text);
      return waitUntil(async (): Promise<JsonBody> => {
        const task: JsonBody = JSON.parse(await (await call('GET', `tasks/${id}`)).text());
        return task.finished_at !== null && task;
      }, 3_600_000);
    };
    const report = async (label: string, startedAt: number): Promise<void> => {
      const [seconds, resident] = [(performance.now() - startedAt) / 1000, await peakResidentBytes(server.pid)];
      process.stdout.write(
        `${databaseKind}: ${label} of ${lines} lines in ${seconds.toFixed(0)} s, ${Math.round(lines / seconds)} lines/s, up to ${megabytes(resident)} resident\n`,
      );
      expect(resident).toBeLessThan(residentMax);
    };

    const uploaded = performance.now();
    const accepted = await call('POST', path, { type: 'text/csv', body: ReadableStream.from(rows()) });
    await report(`upload (${kind})`, uploaded);
    const task = await finished(accepted);
    expect(task, JSON.stringify(task.error)).toMatchObject({ status: 'succeeded', progress: { processed: lines, total: lines } });
    const expectedCount = kind === 'orders' ? Math.ceil(lines / linesOfOrder) : lines;
    expect(task.imported).toEqual({ created: expectedCount, updated: 0, unchanged: 0, refused: 0, differing: 0 });
    await report(`import (${kind})`, uploaded);
    if (kind === 'products') return;

    const exporting = performance.now();
    const exported = await finished(await call('POST', 'order-exports', { type: 'application/json', body: '{"rows":"lines"}' }));
    expect(exported.result.rows).toBe(lines);
    const file = await call('GET', `tasks/${exported.id}/result`);
    let bytes = 0;
    for await (const chunk of file.body ?? []) bytes += chunk.length;
    expect(bytes).toBe(exported.result.bytes);
    await report('export and download', exporting);
  });
});
