import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createSquarePng } from '../../support/browser/square-png.ts';
import { withShop } from '../../support/shop/with-shop.ts';
import { runInProcess, type CommandOutcome } from '../run-command-line.ts';

const shop = withShop();
const admin = shop.admin(['branding.manage']);

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'mandate-logo-'));
});
afterEach(() => rm(directory, { recursive: true }));

const run = (...argv: string[]): Promise<CommandOutcome> =>
  runInProcess(['branding', ...argv, '--json'], { env: { MANDATE_API_URL: shop.origin, MANDATE_TOKEN: admin.token } });

test('an administrator sets the name and the logo, and deletes the logo', async () => {
  const updated = await run('update', '--name', 'Larkspur', '--accent-color', '#2f6f4f');
  expect([updated.stderr, JSON.parse(updated.stdout).name]).toEqual(['', 'Larkspur']);
  const path = join(directory, 'logo.PNG');
  await writeFile(path, createSquarePng(64));
  const set = await run('set-logo', path);
  expect([set.stderr, JSON.parse(set.stdout).logo]).toEqual(['', expect.objectContaining({ media_type: 'image/png', width: 64 })]);
  expect((await run('delete-logo', '--yes')).exitCode).toBe(0);
  expect(JSON.parse((await run('get')).stdout)).toMatchObject({ name: 'Larkspur', logo: null });
});

test('a file that is not an image is rejected with the next step', async () => {
  const [svg, png, missing] = [join(directory, 'logo.svg'), join(directory, 'logo.png'), join(directory, 'missing.png')];
  await writeFile(svg, '<svg xmlns="http://www.w3.org/2000/svg"/>');
  await writeFile(png, '<svg xmlns="http://www.w3.org/2000/svg"/>');
  expect((await run('set-logo', svg)).stderr).toContain('must be a .png, .jpg, .jpeg or .webp file. Convert the image first');
  expect((await run('set-logo', png)).stderr).toContain('The file is not a PNG, JPEG or WebP image. Convert it to one of these formats.');
  expect((await run('set-logo', missing)).stderr).toContain(`Cannot read ${missing}`);
});
