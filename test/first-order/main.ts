/** `npm run first-order` places a paid order from a new clone in every documented way, and prints the number of commands and steps. */
import { spawnSync } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { hasChromium, launchChromium } from '../support/browser/chromium.ts';
import { repositoryRoot } from '../support/markdown.ts';
import { startInstallation } from './installation.ts';
import { orderByCommandLine, orderByCurl, orderInStorefront, orderOnReferencePage, startCommands } from './place-first-order.ts';

function run(command: string, argv: readonly string[], cwd: string): void {
  const { status } = spawnSync(command, argv, { cwd, stdio: 'inherit' });
  if (status !== 0) throw new Error(`${command} ${argv.join(' ')} exited with ${status}`);
}

if (!hasChromium) throw new Error('Chromium is required: apt-get install chromium');
const directory = await mkdtemp(join(tmpdir(), 'mandate-first-order-'));
const clone = join(directory, 'mandate');
run('git', ['clone', '--quiet', repositoryRoot, clone], directory);
// uses the caller's npm cache and registry; all later commands have an empty home directory
run('npm', ['ci'], clone);
const browser = await launchChromium();
const installation = await startInstallation(clone);
try {
  const start = await startCommands();
  const ways = {
    'command line': () => orderByCommandLine(installation, browser),
    curl: () => orderByCurl(installation),
    'API reference': () => orderOnReferencePage(installation, browser),
    storefront: () => orderInStorefront(installation, browser),
  };
  process.stdout.write('| way | commands | steps in the browser | order |\n|---|---|---|---|\n');
  for (const [name, placeOrder] of Object.entries(ways)) {
    const { commands, steps, order } = await placeOrder();
    process.stdout.write(`| ${name} | ${start + commands} | ${steps} | ${order.id} ${order.status} |\n`);
    if (order.status !== 'paid') process.exitCode = 1;
  }
} finally {
  await installation.close();
  await browser.close();
  await rm(directory, { recursive: true, force: true });
}
