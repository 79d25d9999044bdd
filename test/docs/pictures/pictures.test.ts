import { spawnSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { repositoryRoot } from '../../support/markdown.ts';
import { drawPictures } from './draw-pictures.ts';
import { drawTerminal } from './draw-terminal.ts';

const hasScript = spawnSync('script', ['--version']).status === 0;

test.skipIf(!hasScript)('the pictures in the README are up to date with `npm run pictures`', { timeout: 120_000 }, async () => {
  // oxlint-disable-next-line node/no-process-env -- the commands use the caller's programs
  for (const [file, picture] of Object.entries(await drawPictures(process.env['PATH'] ?? '')))
    expect([file, picture]).toEqual([file, await readFile(join(repositoryRoot, file), 'utf8')]);
});

test('a terminal shows colors, escapes markup, and truncates long lines', () => {
  const picture = drawTerminal([{ command: 'npx mandate x', output: `\u001B[32m<paid>\u001B[39m & done\r\n${'x'.repeat(150)}\r\n` }]);
  expect(picture).toContain('<tspan class="green">&lt;paid&gt;</tspan> &amp; done');
  expect(picture).toContain(`>${'x'.repeat(99)}…<`);
  expect(picture).not.toContain('x'.repeat(100));
});
