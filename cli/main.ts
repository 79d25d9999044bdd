#!/usr/bin/env node
import { once } from 'node:events';
import { homedir } from 'node:os';
import packageJson from './package.json' with { type: 'json' };
import { exitCodes } from './errors/exit-codes.ts';
import type { CliEnvironment, OutputStream } from './environment/cli-environment-type.ts';

const interrupted = new AbortController();
let terminated = false;
process.once('SIGINT', () => interrupted.abort());
process.once('SIGTERM', () => {
  terminated = true;
  interrupted.abort();
});
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    // A reader such as `head` may close the pipe early, which is not an error.
    if (error.code === 'EPIPE') process.exit(0);
    process.stderr.write(`error: cannot write output: ${error.message}\n`);
    process.exit(1);
  });
}

const outputTo = (stream: NodeJS.WriteStream): OutputStream => ({
  write: (content) => void stream.write(content),
  drained: async () => {
    if (stream.writableNeedDrain) await once(stream, 'drain');
  },
  isTTY: stream.isTTY,
  columns: stream.columns ?? 80,
});

const io: CliEnvironment = {
  stdin: process.stdin,
  stdinIsTTY: process.stdin.isTTY,
  stdout: outputTo(process.stdout),
  stderr: outputTo(process.stderr),
  // oxlint-disable-next-line node/no-process-env -- the only place where the command-line client reads the process environment
  env: process.env,
  homeDirectory: homedir(),
  platform: process.platform,
  keyring: async () => (await import('./environment/system-keyring.ts')).openSystemKeyring(),
  openBrowser: async (url) => (await import('./terminal/open-browser.ts')).openBrowser(url),
  interrupted: interrupted.signal,
};
const argv = process.argv.slice(2);
const [first = '', shell = '', ...words] = argv;
// `--version` and shell completion must be fast, so they do not load the command framework.
if (argv.length === 1 && (first === '--version' || first === '-V')) io.stdout.write(`${packageJson.version}\n`);
else if (first === '__complete') await complete();
else {
  const { runCommandLine: run } = await import('./run-command-line.ts');
  const exitCode = await run(argv, io);
  process.exitCode = terminated && exitCode === exitCodes.interrupted ? exitCodes.terminated : exitCode;
  // A pending read of standard input would keep the process running.
  process.stdin.destroy();
}

async function complete(): Promise<void> {
  const [{ findAndFormatCompletionCandidates: completionLines, readProfileNames: profileNames }, { getConfigDirectory: directoryOf }] =
    await Promise.all([import('./completion/find-and-render-completions.ts'), import('./settings/config-directory.ts')]);
  io.stdout.write(completionLines(shell, words, profileNames(directoryOf(io))));
}
