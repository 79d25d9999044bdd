import type { Command } from 'commander';
import type { CliEnvironment } from '../environment/cli-environment-type.ts';
import { applyJqFilter } from '../output/jq-filter.ts';
import { serializeJsonForTerminal } from '../terminal/sanitize-and-measure-terminal-text.ts';
import { readGlobalFlags, addCommandWithoutSubcommands } from './global-flags-and-command-groups.ts';

export function addListAllCommandsCommand(program: Command, io: CliEnvironment): void {
  const command = addCommandWithoutSubcommands(program, 'commands', 'List every command')
    .description('List every command with its summary. With --json, the list includes arguments and flags.')
    .action(() => {
      const leaves = listLeafCommands(program, []);
      const { json, jsonl, jq } = readGlobalFlags(command);
      if (jq !== undefined) return io.stdout.write(applyJqFilter(jq, leaves, io.stdout));
      if (jsonl) return io.stdout.write(leaves.map((leaf) => `${serializeJsonForTerminal(leaf)}\n`).join(''));
      if (json) return io.stdout.write(`${serializeJsonForTerminal(leaves, io.stdout.isTTY ? 2 : undefined)}\n`);
      const width = io.stdout.isTTY ? Math.max(...leaves.map((leaf) => leaf.command.length)) : 0;
      io.stdout.write(
        leaves.map((leaf) => `${width > 0 ? `${leaf.command.padEnd(width)}  ` : `${leaf.command}\t`}${leaf.summary}\n`).join(''),
      );
    });
}

type LeafCommand = {
  readonly command: string;
  readonly summary: string;
  readonly arguments: readonly string[];
  readonly flags: readonly string[];
};

const listLeafCommands = (command: Command, words: readonly string[]): LeafCommand[] =>
  command.commands.flatMap((child) => {
    const path = [...words, child.name()];
    if (child.commands.length > 0) return listLeafCommands(child, path);
    const flags = child.options.map(({ flags: text }) => text);
    return [
      { command: path.join(' '), summary: child.summary(), arguments: child.registeredArguments.map((argument) => argument.name()), flags },
    ];
  });
