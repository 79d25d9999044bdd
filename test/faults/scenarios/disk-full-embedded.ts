import { execFile } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import { mkdir, rm, statfs } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { createServerDirectory } from '../../support/services/server-directory.ts';
import { EmbeddedEnvironment } from '../environments/embedded-environment.ts';
import { forEachConcurrently } from '../audit/concurrency.ts';
import type { Load } from '../traffic/load.ts';
import type { Fault, Scenario } from './scenario.ts';
import { mountSmallDisk, reasonMountFails } from './disk-full.ts';
import { startServers } from '../environments/environment.ts';

const run = promisify(execFile);
const megabyte = 1024 * 1024;

/** Fills the disk with one file until only `megabytes` are free. */
export async function fillDiskExcept(ballast: string, megabytes: number): Promise<void> {
  const { bavail, bsize } = await statfs(dirname(ballast));
  const bytes = bavail * bsize - megabytes * megabyte;
  await run('sh', ['-c', 'head -c "$1" /dev/zero >"$0" 2>/dev/null || true', ballast, String(bytes)]);
}

/** Another process fills the disk until only a few megabytes are free, and later deletes its file. */
const fillDisk = (name: string, title: string, leftMegabytes: number): Fault<EmbeddedEnvironment> => ({
  name,
  title,
  async inject({ dataDirectory, servers: [server], loadBalancer }, { load }) {
    const shortages = (): number => server?.output().split('disk space is low').length ?? 0;
    const before = shortages();
    const ballast = join(dataDirectory, 'ballast');
    await fillDiskExcept(ballast, leftMegabytes);
    const refused = await writeUntilRefused(load);
    await expectReads(load, loadBalancer.url);
    const reports = shortages() - before;
    if (reports !== 1) throw new Error(`the log reports ${reports} shortages of disk space instead of one`);
    await rm(ballast);
    return { since: performance.now(), note: `${refused} of the requests with a large body were rejected, and reads succeeded` };
  },
});

const refusalsWanted = 20;
/** Number of requests whose total WAL exceeds one segment, so that a server without reserved disk space would need another segment. */
const requestsMax = 1_000;

const randomText = (length: number): string => randomBytes(length).toString('base64url').slice(0, length);

/** Creates a product of about 15 kB, which is written to the WAL several times: as part of the row, the event and the stored response. */
function largeProduct(): string {
  const metadata = Object.fromEntries(Array.from({ length: 20 }, (_, nth) => [`key_${nth}`, randomText(500)]));
  const product = { name: 'Large', description: randomText(5_000), category: 'large', price: 100, currency: 'GBP', metadata };
  return JSON.stringify({ sku: randomUUID(), ...product });
}

async function writeUntilRefused({ administration }: Load): Promise<number> {
  let refused = 0;
  await forEachConcurrently(
    Array.from({ length: requestsMax }, (_, nth) => nth),
    async () => {
      if (refused >= refusalsWanted) return;
      const { status, text } = await administration.sendOnce('/products', { key: randomUUID(), body: largeProduct() });
      if (status === 503 && text.includes('"insufficient_storage"')) refused += 1;
      else if (status !== 201) throw new Error(`POST /products returned ${status} while the disk was full: ${text}`);
    },
  );
  if (refused === 0) throw new Error(`no request was rejected while the disk was full`);
  return refused;
}

async function expectReads({ administration }: Load, url: string): Promise<void> {
  const { status, text } = await administration.sendOnce('/orders?limit=1');
  if (status !== 200) throw new Error(`GET /orders returned ${status} while the disk was full: ${text}`);
  for (const [path, expected] of [['/healthz', /^ok\n/] as const, ['/readyz', /^ok, but writes are rejected/] as const]) {
    const response = await fetch(`${url}${path}`, { signal: AbortSignal.timeout(5_000) });
    const body = await response.text();
    if (response.status !== 200 || !expected.test(body)) throw new Error(`${path} returned ${response.status}: ${body}`);
  }
}

export async function createSmallDataDirectory(): Promise<AsyncDisposable & { readonly path: string }> {
  const { path, remove } = await createServerDirectory();
  const data = join(path, 'data');
  await mkdir(data);
  await mountSmallDisk(data);
  return { path: data, [Symbol.asyncDispose]: remove };
}

/** One server on PGlite with a small disk. */
export const embeddedDiskFullScenario: Scenario<EmbeddedEnvironment> = {
  missing: reasonMountFails,
  open: async () => new EmbeddedEnvironment(await startServers(1, () => ({}), await createSmallDataDirectory())),
  faults: [
    fillDisk('full-disk-table', 'PGlite disk full, no space for tables', 0),
    fillDisk('full-disk-wal', 'PGlite disk full, no space for the next WAL segment', 12),
  ],
};
