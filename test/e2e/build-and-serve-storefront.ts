import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { extname, join } from 'node:path';
import { build } from 'vite';

const root = join(import.meta.dirname, '../../examples/storefront');
const mediaTypes: Readonly<Record<string, string>> = { '.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css' };

type ServedStorefront = { readonly origin: string; readonly close: () => Promise<void> };

/** Builds the storefront example for a service, and serves it on a free port. */
export async function buildAndServeStorefront(serviceOrigin: string): Promise<ServedStorefront> {
  const directory = await mkdtemp(join(tmpdir(), 'mandate-storefront-'));
  const define = { 'import.meta.env.VITE_API_URL': JSON.stringify(serviceOrigin) };
  await build({ root, define, logLevel: 'error', build: { outDir: directory, emptyOutDir: true } });
  const website = createServer((req, res) => {
    const path = req.url?.startsWith('/assets/') ? req.url : '/index.html';
    readFile(join(directory, path)).then(
      (content) => res.writeHead(200, { 'content-type': mediaTypes[extname(path)] ?? 'text/plain' }).end(content),
      () => res.writeHead(404).end(),
    );
  }).listen(0, '127.0.0.1');
  await once(website, 'listening');
  const address = website.address();
  return {
    origin: `http://localhost:${typeof address === 'object' ? address?.port : ''}`,
    close: async () => {
      website.closeAllConnections();
      website.close();
      await rm(directory, { recursive: true, force: true });
    },
  };
}
