/**
 * Runs every code block of the integrator's guide, in order, in one shell, against a new installation. Then runs the TypeScript in the
 * README. test/first-order runs the README's commands.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { linkedClone, startInstallation, type Installation } from '../../first-order/installation.ts';
import { completeAuthorization } from '../../support/oauth/complete-authorization.ts';
import type { HttpBrowser } from '../../support/browser/browser.ts';
import { readCodeBlocks, type CodeBlock } from '../../support/markdown.ts';
import { findFreePort } from '../../support/network/free-port.ts';
import { signIn } from '../../support/oauth/oauth-flow.ts';
import { guidePages } from './guide-pages.ts';
import { findJsonDifference, runGuideBlock, type GuideRunner } from './run-guide-block.ts';
import { startShellSession, type ShellSession } from './shell-session.ts';

const pages = await Promise.all(guidePages.map(readCodeBlocks));
/** guide-tables.test.ts compares the diagram with the server. */
const guideBlocks = pages.flat().filter(({ name }) => name !== 'docs/integrator-guide/orders.md: stateDiagram-v2');
const readmeBlocks = (await readCodeBlocks('README.md')).filter(({ language }) => language === 'ts');
const blocks = [...guideBlocks, ...readmeBlocks];
const backgroundBlocks = new Set([
  "docs/integrator-guide/webhooks.md: import { createServer } from 'node:http';",
  'docs/integrator-guide/webhooks.md: import base64, hashlib, hmac, json, os, time',
]);

describe('the examples of the guide', () => {
  let clone: Awaited<ReturnType<typeof linkedClone>> | undefined;
  let installation: Installation | undefined;
  let session: ShellSession | undefined;
  let runner: GuideRunner;

  beforeAll(async () => {
    clone = await linkedClone();
    installation = await startInstallation(clone.path);
    const { url, accounts } = installation;
    const ports = new Map<string, string>();
    for (const port of ['8080', '3001', '3002']) ports.set(port, String(await findFreePort()));
    const replacePorts = (text: string): string =>
      text.replaceAll('http://localhost:3000', url).replaceAll(/\b(8080|3001|3002)\b/g, (port) => ports.get(port) ?? port);
    const browser = await signIn(url, accounts.customer);
    session = startShellSession({
      directory: clone.path,
      // oxlint-disable-next-line node/no-process-env -- the shell uses the caller's programs
      env: { HOME: clone.path, PATH: process.env['PATH'] ?? '' },
      onOutput: (text) => void followAuthorizationLink(browser, text, () => session),
    });
    runner = { session, directory: clone.path, replacePorts, backgroundBlocks, outputTimeoutMs: 20_000 };
  }, 120_000);
  afterAll(async () => {
    await session?.close();
    await installation?.close();
    await clone?.[Symbol.asyncDispose]();
  });

  // Blocks depend on earlier blocks, so a block cannot be retried.
  test.each(blocks.map((one) => [one.name, one] as const))('%s', { timeout: 60_000, retry: 0 }, async (_name, block) => {
    await expect(runGuideBlock(runner, block)).resolves.toBeUndefined();
  });

  test('a block with an unknown language, a failing command or other output fails by name', async () => {
    const block = (language: string, text: string): CodeBlock => ({ file: 'page.md', line: 1, language, text, name: `page.md: ${text}` });
    await expect(runGuideBlock(runner, block('rust', 'fn main() {}'))).rejects.toThrow('page.md: fn main() {}: the guide cannot run');
    await runGuideBlock(runner, block('sh', 'echo one; echo two'));
    await runGuideBlock(runner, block('text', 'o…\ntwo'));
    await expect(runGuideBlock({ ...runner, outputTimeoutMs: 100 }, block('text', 'three'))).rejects.toThrow(
      'page.md: three: the output is\none\ntwo',
    );
    await expect(runGuideBlock(runner, block('sh', 'false'))).rejects.toThrow('page.md: false: The shell ended');
  });
});

test('a documented response must have the same fields and values', () => {
  const actual = { id: 7, token: 'eyJabc', items: [{ status: 'paid' }] };
  expect(findJsonDifference({ id: 7, token: 'eyJ…', items: [{ status: 'paid' }] }, actual)).toBeUndefined();
  expect(findJsonDifference({ id: 7, token: 'eyJ…' }, actual)).toBe('the response has the fields id, items, token, not id, token');
  expect(findJsonDifference({ id: 7, token: 'x…', items: [{ status: 'paid' }] }, actual)).toBe('the response.token is "eyJabc"');
  expect(findJsonDifference({ id: 7, token: '…', items: [{ status: 'open' }] }, actual)).toBe(
    'the response.items.0.status is "paid", not "open"',
  );
});

/**
 * Follows the instructions in the guide: opens the printed URL, gives consent, and enters the URL that the browser then shows.
 */
async function followAuthorizationLink(browser: HttpBrowser, output: string, session: () => ShellSession | undefined): Promise<void> {
  const [url] = /http\S+\/oauth\/authorize\?\S+/.exec(output) ?? [];
  if (url === undefined) return;
  const callback = await completeAuthorization({ browser }, url);
  await fetch(callback).catch(() => session()?.enter(callback.href)); // during a manual sign-in, no program listens at the callback URL
}
