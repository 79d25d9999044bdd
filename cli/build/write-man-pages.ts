import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Command } from 'commander';
import { renderManPage, getManPageName } from '../commands/render-man-page.ts';
import { buildCliProgram } from '../build-cli-program.ts';
import { stubCliEnvironment } from './stub-cli-environment.ts';

/** Writes one man page for the program and one for each command to `directory`. */
export async function writeManPages(directory: string): Promise<void> {
  await mkdir(directory, { recursive: true });
  const write = async (command: Command): Promise<void> => {
    await writeFile(join(directory, `${getManPageName(command)}.1`), renderManPage(command));
    for (const child of command.commands) await write(child);
  };
  await write(await buildCliProgram(stubCliEnvironment));
}
