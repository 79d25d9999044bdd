import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { formatFirstOrderCommands } from '../../server/first-run/format-first-order-commands.ts';
import { hasChromium, launchChromium } from '../support/browser/chromium.ts';
import { readCommandBlock, repositoryRoot } from '../support/markdown.ts';
import { linkedClone, startInstallation, type Installation } from './installation.ts';
import {
  orderByCommandLine,
  orderByCurl,
  orderInStorefront,
  orderOnReferencePage,
  startCommands,
  type CompletedWay,
} from './place-first-order.ts';

test('the start page and the README show the same commands', async () => {
  expect(formatFirstOrderCommands('http://localhost:3000')).toEqual(await readCommandBlock('README.md', 'npx mandate login'));
});

/** Reads the number of commands and steps from the document's table. */
async function documentedCounts(way: string): Promise<number[]> {
  const text = await readFile(join(repositoryRoot, 'docs/first-order.md'), 'utf8');
  const [, commands, steps] = new RegExp(`^\\| ${way} \\| (\\d+) \\| (\\d+) \\|$`, 'm').exec(text) ?? [];
  return [Number(commands), Number(steps)];
}

describe.skipIf(!hasChromium)('the documented ways from a clone to a paid order', { timeout: 180_000 }, () => {
  let clone: Awaited<ReturnType<typeof linkedClone>>;
  let installation: Installation;
  let browser: Browser;
  beforeAll(async () => {
    clone = await linkedClone();
    browser = await launchChromium();
    installation = await startInstallation(clone.path);
  }, 120_000);
  afterAll(async () => {
    await installation?.close();
    await browser?.close();
    await clone?.[Symbol.asyncDispose]();
  });

  test.each<[string, (installation: Installation, browser: Browser) => Promise<CompletedWay>]>([
    ['command line', orderByCommandLine],
    ['curl', orderByCurl],
    ['API reference', orderOnReferencePage],
    ['storefront', orderInStorefront],
  ])('%s', async (name, placeOrder) => {
    const { commands, steps, order } = await placeOrder(installation, browser);
    expect(order).toMatchObject({ id: expect.any(Number), status: 'paid' });
    expect([(await startCommands()) + commands, steps]).toEqual(await documentedCounts(name));
  });
});
