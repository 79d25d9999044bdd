import { existsSync } from 'node:fs';
import { chromium, type Browser } from 'playwright-core';

const executablePath = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find((path) => existsSync(path));

/**
 * Whether tests that need Chromium run. Without Chromium, they are skipped: `describe.skipIf(!hasChromium)`. With `CI` set, they fail
 * instead, because a run without them must not count as complete.
 */
export const hasChromium = executablePath !== undefined || Boolean(process.env['CI']);

export async function launchChromium(args: readonly string[] = []): Promise<Browser> {
  if (executablePath === undefined) throw new Error('Chromium is required: apt-get install chromium');
  return chromium.launch({
    executablePath,
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
      ...args,
    ],
  });
}
