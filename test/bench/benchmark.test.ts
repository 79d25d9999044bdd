import { execFile } from 'node:child_process';
import { copyFile, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { databaseKind } from '../support/services/database.ts';
import { cases } from './cases/benchmark-cases.ts';

const root = join(import.meta.dirname, '../..');
const figures = z.object({
  rates: z.array(z.object({ name: z.string(), title: z.string(), perSecond: z.record(z.number()) })),
  checks: z.array(z.object({ name: z.string(), title: z.string(), value: z.number() })),
});

const limitMs = 400_000;

test.skipIf(databaseKind === 'pglite')(
  'the benchmark measures every case with every peer, and writes all result files',
  { timeout: limitMs },
  async () => {
    const out = await mkdtemp(join(tmpdir(), 'mandate-bench-out-'));
    try {
      await copyFile(join(root, 'docs/performance.md'), join(out, 'performance.md'));
      const short = [
        '--rounds',
        '1',
        '--seconds',
        '0.05',
        '--connections',
        '4',
        '--orders',
        '500',
        '--customers',
        '8',
        '--all',
        '--long-list',
        '1000',
        '--out',
        out,
      ];
      const { stdout } = await promisify(execFile)(process.execPath, [join(root, 'test/bench/main.ts'), ...short], { timeout: limitMs });
      const { rates, checks } = figures.parse(JSON.parse(await readFile(join(out, 'benchmark.json'), 'utf8')));
      const expected = cases.map(({ name, subject, peers }) => [name, [subject, ...peers]]);
      expect(rates.map(({ name, perSecond }) => [name, Object.keys(perSecond)])).toEqual(expected);
      for (const { name, perSecond } of rates) for (const value of Object.values(perSecond)) expect(value, name).toBeGreaterThan(0);
      expect(checks.map(({ name }) => name)).toEqual(
        expect.arrayContaining(['page', 'dpop', 'unlimited-grants', 'limited-grants', 'memory', 'memory-idle', 'first-start', 'start']),
      );
      for (const { name, value } of checks) expect(value, name).toBeGreaterThan(0);
      const document = await readFile(join(out, 'performance.md'), 'utf8');
      for (const { title } of [...rates, ...checks]) for (const text of [document, stdout]) expect(text).toContain(`| ${title} |`);
      expect(await readFile(join(out, 'benchmark.svg'), 'utf8')).toContain('</svg>');
    } finally {
      await rm(out, { recursive: true });
    }
  },
);
