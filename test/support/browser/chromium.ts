import { existsSync } from 'node:fs';
import { chromium, type Browser } from 'playwright-core';
import { assertAvailableInCi } from '../assert-available-in-ci.ts';

/** Headless Chromium comes first, because it uses only about a third of the regular browser's CPU time. */
const executablePath = [
  '/usr/lib/chromium/chromium-headless-shell',
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
].find((path) => existsSync(path));

/** Whether Chromium is installed. Without Chromium, tests that need it are skipped: `describe.skipIf(!hasChromium)`. */
export const hasChromium = assertAvailableInCi('Chromium', executablePath !== undefined);

/**
 * Chromium features that are disabled. The command-line switch replaces Playwright's list, so this list repeats the features that
 * Playwright disables.
 */
const disabledFeatures = [
  // With these two features, each new window would load its address bar suggestions as two pages in another process.
  'WebUIOmniboxPopup',
  'WebUIOmniboxAimPopup',
  // features that Playwright disables
  'AvoidUnnecessaryBeforeUnloadCheckSync',
  'DestroyProfileOnBrowserClose',
  'HttpsUpgrades',
  'HttpsFirstBalancedModeAutoEnable',
  'LensOverlay',
  'MediaRouter',
  'PaintHolding',
  'ThirdPartyStoragePartitioning',
  'AvoidCorsURLLoaderRestartOnRedirect',
  'TcpPortRandomizationWin',
  'OptimizationHints',
  'NetworkTimeServiceQuerying',
  'AimEnabled',
  'PreconnectToSearch',
];

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
      `--disable-features=${disabledFeatures.join(',')}`,
      ...args,
    ],
  });
}
