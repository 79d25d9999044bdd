import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const maxOutputBytes = 2 ** 26;

/** Environment for the peers and their installers, without the npm settings of the script that runs this program. */
export const programEnvironment: Readonly<Record<string, string | undefined>> = Object.fromEntries(
  // oxlint-disable-next-line node/no-process-env -- the installed programs need PATH, HOME and the locations of Java and Go
  Object.entries(process.env).filter(([name]) => !/^(?:npm_|NODE_OPTIONS$)/.test(name)),
);

/** Runs a command in a directory. If the command fails, throws an error with its output. If this process exits, the command is killed. */
export async function runCommand(
  directory: string,
  [command = '', ...args]: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<void> {
  const finished = run(command, args, { cwd: directory, env: { ...programEnvironment, ...env }, maxBuffer: maxOutputBytes });
  const kill = (): void => void finished.child.kill('SIGKILL');
  process.once('exit', kill);
  try {
    await finished;
  } finally {
    process.off('exit', kill);
  }
}

/**
 * Returns the directory, outside the repository, in which the given version of a peer is installed. If necessary, installs this version
 * first.
 */
export async function installPeer(name: string, version: string, install: (directory: string) => Promise<unknown>): Promise<string> {
  const directory = join(homedir(), '.cache/mandate-peers', `${name}-${version}`);
  const marker = join(directory, 'is-installed');
  if (existsSync(marker)) return directory;
  await rm(directory, { recursive: true, force: true });
  await mkdir(directory, { recursive: true });
  await install(directory);
  await writeFile(marker, '');
  return directory;
}

/** Installs npm packages into a directory. */
export async function installPackages(directory: string, dependencies: Readonly<Record<string, string>>): Promise<void> {
  await writeFile(join(directory, 'package.json'), JSON.stringify({ name: 'benchmark-peer', private: true, dependencies }));
  await runCommand(directory, ['npm', 'install', '--no-audit', '--no-fund', '--omit=dev']);
}
