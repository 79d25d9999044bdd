import { execFile } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import { mkdir, rm, statfs } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { serverDirectory } from '../../support/server/server-directory.ts';
import { EmbeddedStage } from '../environments/embedded.ts';
import { forEach } from '../audit/violations.ts';
import type { Load } from '../traffic/load.ts';
import type { Fault, Scene } from '../scenario.ts';
import { mountSmallDisk, whyNothingCanBeMounted } from './disk-full.ts';
import { startServers } from '../environments/environment.ts';

const run = promisify(execFile);
const megabyte = 1024 * 1024;

/** Fills the disk with one file until so much is free. */
export async function leaveFree(ballast: string, megabytes: number): Promise<void> {
  const { bavail, bsize } = await statfs(dirname(ballast));
  const bytes = bavail * bsize - megabytes * megabyte;
  await run('sh', ['-c', 'head -c "$1" /dev/zero >"$0" 2>/dev/null || true', ballast, String(bytes)]);
}

/** Another process fills the disk except for a few megabytes; later it removes its file. */
const fillDisk = (name: string, title: string, leftMegabytes: number): Fault<EmbeddedStage> => ({
  name,
  title,
  async strike({ dataDirectory, servers: [server], front }, { load }) {
    const shortages = (): number => server?.output().split('disk space is low').length ?? 0;
    const before = shortages();
    const ballast = join(dataDirectory, 'ballast');
    await leaveFree(ballast, leftMegabytes);
    const refused = await writeUntilRefused(load);
    await expectReads(load, front.url);
    const reports = shortages() - before;
    if (reports !== 1) throw new Error(`the log reports ${reports} shortages of disk space instead of one`);
    await rm(ballast);
    return { since: performance.now(), note: `${refused} of the requests with a large body were refused, reads were answered` };
  },
});

const refusalsWanted = 20;
/** Together they need more WAL than a segment has, so that a server without a reserve needs the next one. */
const requestsMax = 1_000;

const randomText = (length: number): string => randomBytes(length).toString('base64url').slice(0, length);

/** A product of about 15 kB, which WAL contains more than once: in the row, in the event and in the stored response. */
function largeProduct(): string {
  const metadata = Object.fromEntries(Array.from({ length: 20 }, (_, nth) => [`key_${nth}`, randomText(500)]));
  const product = { name: 'Large', description: randomText(5_000), category: 'large', price: 100, currency: 'GBP', metadata };
  return JSON.stringify({ sku: randomUUID(), ...product });
}

async function writeUntilRefused({ administration }: Load): Promise<number> {
  let refused = 0;
  await forEach(
    Array.from({ length: requestsMax }, (_, nth) => nth),
    async () => {
      if (refused >= refusalsWanted) return;
      const { status, text } = await administration.once('/products', { key: randomUUID(), body: largeProduct() });
      if (status === 503 && text.includes('"insufficient_storage"')) refused += 1;
      else if (status !== 201) throw new Error(`POST /products was answered ${status} while the disk was full: ${text}`);
    },
  );
  if (refused === 0) throw new Error(`no request was refused while the disk was full`);
  return refused;
}

async function expectReads({ administration }: Load, url: string): Promise<void> {
  const { status, text } = await administration.once('/orders?limit=1');
  if (status !== 200) throw new Error(`GET /orders was answered ${status} while the disk was full: ${text}`);
  for (const [path, expected] of [['/healthz', /^ok\n/] as const, ['/readyz', /^ok, but writes are rejected/] as const]) {
    const answer = await fetch(`${url}${path}`, { signal: AbortSignal.timeout(5_000) });
    const found = await answer.text();
    if (answer.status !== 200 || !expected.test(found)) throw new Error(`${path} was answered ${answer.status}: ${found}`);
  }
}

export async function smallDirectory(): Promise<AsyncDisposable & { readonly path: string }> {
  const { path, remove } = await serverDirectory();
  const data = join(path, 'data');
  await mkdir(data);
  await mountSmallDisk(data);
  return { path: data, [Symbol.asyncDispose]: remove };
}

/** One server on PGlite, whose disk is small. */
export const smallDiskEmbedded: Scene<EmbeddedStage> = {
  missing: whyNothingCanBeMounted,
  open: async () => new EmbeddedStage(await startServers(1, () => ({}), await smallDirectory())),
  faults: [
    fillDisk('full-disk-table', 'no room left on the disk of PGlite, for its tables', 0),
    fillDisk('full-disk-wal', 'no room left on the disk of PGlite, for the next WAL segment', 12),
  ],
};
