import { once } from 'node:events';
import { readFileSync, readdirSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { gzipSync } from 'node:zlib';
import express from 'express';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { loadConsoleEntryAndAssetHandlers } from '../../server/console/load-console-entry-and-asset-handlers.ts';
import { serveConsole } from '../../server/console/serve-console.ts';
import { useServer } from '../support/server/use-server.ts';

const output = join(import.meta.dirname, '../../console/dist');
const maxInitialBytes = 250_000;

const manifest = z
  .record(
    z.object({
      file: z.string(),
      isEntry: z.boolean().default(false),
      css: z.array(z.string()).default([]),
      imports: z.array(z.string()).default([]),
      dynamicImports: z.array(z.string()).default([]),
    }),
  )
  .parse(JSON.parse(readFileSync(join(output, 'manifest.json'), 'utf8')));
const entry = Object.values(manifest).find(({ isEntry }) => isEntry);

const gzippedSize = (file: string): number => gzipSync(readFileSync(join(output, file))).length;

/** Returns the files that must be loaded with a chunk. */
function listFiles(name: string): string[] {
  const { file, css = [], imports = [] } = manifest[name] ?? { file: name };
  return [...new Set([file, ...css, ...imports.flatMap(listFiles)])];
}

describe('the built console', () => {
  test(`loads less than ${maxInitialBytes} bytes initially, compressed, including the catalog and the code of the first page`, () => {
    const initial = [
      ...Object.keys(manifest).filter((name) => manifest[name]?.isEntry),
      'src/pages/home/home-page.tsx',
      'src/pages/home/messages/de.json',
      'src/languages/messages/de.json',
    ].flatMap(listFiles);
    const size = [...new Set(initial)].reduce((sum, file) => sum + gzippedSize(file), 0);
    expect(size).toBeGreaterThan(100_000);
    expect(size).toBeLessThan(maxInitialBytes);
  });

  test('has a chunk for each page, and loads the chart library on demand', () => {
    const pages = readdirSync(join(output, '../src/pages'));
    const chunksOfPage = (page: string): string[] =>
      Object.keys(manifest).filter((name) => new RegExp(`^src/pages/${page}/[a-z]+-pages?\\.tsx$`).test(name));
    for (const page of pages) expect(chunksOfPage(page), page).toHaveLength(1);
    expect(manifest['src/pages/home/home-page.tsx']?.dynamicImports).toEqual(['src/pages/home/revenue-chart.tsx']);
    expect(entry?.imports.flatMap(listFiles)).not.toContain(manifest['src/pages/home/revenue-chart.tsx']?.file);
  });
});

test('a published server serves assets that its package contains only in compressed form', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'mandate-console-'));
  await mkdir(join(folder, 'assets'));
  await writeFile(join(folder, 'manifest.json'), JSON.stringify({ 'src/main.tsx': { file: 'assets/main-1.js', isEntry: true } }));
  await writeFile(join(folder, 'assets/main-1.js.gz'), gzipSync('export {};'));
  const files = loadConsoleEntryAndAssetHandlers(pathToFileURL(`${folder}/`));
  const site = createServer(express().use(serveConsole('http://localhost', files)));
  await once(site.listen(0, '127.0.0.1'), 'listening');
  const address = site.address();
  const url = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}/console/assets/main-1.js`;
  const texts = await Promise.all(
    ['gzip', 'identity'].map(async (encoding) => (await fetch(url, { headers: { 'accept-encoding': encoding } })).text()),
  );
  site.close();
  await rm(folder, { recursive: true });
  expect(texts).toEqual(['export {};', 'export {};']);
});

describe('the server', () => {
  const server = useServer();
  const open = (path: string, headers: Record<string, string> = {}) =>
    fetch(`${server.origin}${path}`, { redirect: 'manual', headers: { accept: 'text/html', ...headers } });

  test.each(['/console', '/console/orders', '/console/orders/7?tab=all'])(
    'serves the document at %s with a strict policy',
    async (path) => {
      const response = await open(path);
      expect([response.status, response.headers.get('cache-control')]).toEqual([200, 'no-cache']);
      const policy = response.headers.get('content-security-policy') ?? '';
      expect(policy).not.toMatch(/unsafe-(?:inline|eval)/);
      expect(policy).toContain(`script-src 'self';`);
      const text = await response.text();
      expect(policy).toContain(`'nonce-${/nonce="([^"]+)"/.exec(text)?.[1]}'`);
      expect(text).not.toMatch(/<script(?![^>]* src=)|<style|\sstyle=/);
      for (const [, file = ''] of text.matchAll(/(?:src|href)="(\/console\/assets\/[^"]+)"/g)) expect((await open(file)).status).toBe(200);
    },
  );

  test('sends a new nonce with each document', async () => {
    const policies = await Promise.all([open('/console'), open('/console')]);
    expect(new Set(policies.map(({ headers }) => headers.get('content-security-policy'))).size).toBe(2);
  });

  test('serves files compressed, and lets browsers cache them', async () => {
    const response = await open(`/console/${entry?.file}`);
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'cache-control': 'public, max-age=31536000, immutable',
      'content-encoding': 'gzip',
      'content-type': 'text/javascript; charset=utf-8',
    });
    const etag = response.headers.get('etag') ?? '';
    expect((await open(`/console/${entry?.file}`, { 'if-none-match': etag })).status).toBe(304);
  });

  test('responds with 404 to unknown files, and to API clients', async () => {
    expect((await open('/console/assets/unknown.js')).status).toBe(404);
    const response = await open('/console/orders', { accept: 'application/json' });
    expect([response.status, response.headers.get('content-type')]).toEqual([404, 'application/problem+json']);
  });

  test('redirects requests with another host to the issuer, where users can sign in', async () => {
    const other = server.origin.replace('localhost', '127.0.0.1');
    const response = await fetch(`${other}/console/orders?tab=unpaid`, { redirect: 'manual', headers: { accept: 'text/html' } });
    expect([response.status, response.headers.get('location')]).toEqual([307, `${server.origin}/console/orders?tab=unpaid`]);
  });
});
