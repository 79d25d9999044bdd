import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { linkedClone, startInstallation } from '../../first-order/installation.ts';
import { completeAuthorization } from '../../support/oauth/complete-authorization.ts';
import type { HttpBrowser } from '../../support/browser/browser.ts';
import { signIn } from '../../support/oauth/oauth-flow.ts';
import { startShellSession } from '../guide/shell-session.ts';

export type RecordedCommand = { readonly command: string; readonly output: string };

/** Size of the recorded terminal, in characters. */
export const terminalColumns = 100;

/**
 * Runs commands against a new installation, each in a pseudoterminal (the program `script` of util-linux), and returns their output with
 * its escape sequences. The function signs in the demonstration customer itself, instead of opening a browser.
 */
export async function recordCommands(commands: readonly string[], path: string): Promise<RecordedCommand[]> {
  await using clone = await linkedClone();
  const installation = await startInstallation(clone.path);
  const browser = await signIn(installation.url, installation.accounts.customer);
  const programs = join(clone.path, 'recording-programs');
  await mkdir(programs);
  await writeFile(join(programs, 'xdg-open'), '#!/bin/sh\necho "$1" > "$RECORDED_URL"\n');
  await chmod(join(programs, 'xdg-open'), 0o755);
  let opened = '';
  const session = startShellSession({
    directory: clone.path,
    env: {
      HOME: clone.path,
      PATH: `${programs}${delimiter}${path}`,
      MANDATE_API_URL: installation.url,
      DISPLAY: ':0',
      TERM: 'xterm-256color',
      RECORDED_URL: join(clone.path, 'opened-url'),
    },
    onOutput: (text) => {
      if (text.includes('[y/N]')) session.enter('y');
      const [url] = /http\S+\/oauth\/authorize\?\S+/.exec(text) ?? [];
      if (url === undefined || opened !== '') return;
      opened = url;
      void signInAndReturn(browser, url);
    },
  });
  try {
    const recorded: RecordedCommand[] = [];
    for (const command of commands) {
      const inTerminal = `script -qefc ${quoteForShell(`stty cols ${terminalColumns} rows 40; ${command}`)} /dev/null`;
      const output = await session.run(inTerminal);
      recorded.push({ command, output: replaceVaryingText(output.replaceAll(installation.url, 'http://localhost:3000'), clone.path) });
    }
    return recorded;
  } finally {
    await session.close();
    await installation.close();
  }
}

async function signInAndReturn(browser: HttpBrowser, authorizationUrl: string): Promise<void> {
  await fetch(await completeAuthorization({ browser }, authorizationUrl));
}

/** Replaces the text that differs between recordings: the home directory and the times. */
const replaceVaryingText = (output: string, home: string): string =>
  output.replaceAll(home, '~').replaceAll(/\d{4}-\d\d-\d\d \d\d:\d\d:\d\d/g, '2026-11-23 10:30:00');

const quoteForShell = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`;
