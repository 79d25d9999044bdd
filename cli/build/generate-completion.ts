import type { Command, Option } from 'commander';
import type { CompletionCommand, CompletionFlag } from '../completion/completion-tree.ts';
import { choicesOf, isGlobalFlag } from '../command-helpers.ts';
import { buildProgram } from '../program.ts';
import { silentIo } from './silent-environment.ts';

/** The words of every command there is, of the contract and by hand, as plain data. */
export async function generatedCompletion(): Promise<string> {
  const program = await buildProgram(silentIo);
  const written = (command: Command): CompletionCommand => ({
    name: command.name(),
    about: command.summary(),
    ...(command.aliases().length > 0 && { aliases: command.aliases() }),
    ...(command.commands.length > 0 && { commands: command.commands.map(written) }),
    ...(command.commands.length === 0 && { flags: command.options.filter((option) => !isGlobalFlag(option)).map(flagOf) }),
    ...(command.commands.length === 0 &&
      command.registeredArguments.some(({ argChoices }) => argChoices) && {
        places: command.registeredArguments.map(({ argChoices = [] }) => argChoices),
      }),
  });
  const shared = program.options.filter(isGlobalFlag).map(flagOf);
  const help: CompletionFlag = { names: ['-h', '--help'], about: 'print what a command does and takes' };
  return `// Written by build/generate-commands.ts from the commands. Do not edit.

import type { CompletionCommand, CompletionFlag } from './completion-tree.ts';

export const globalFlags: readonly CompletionFlag[] = ${JSON.stringify([...shared, help])};

export const completionTree: readonly CompletionCommand[] = [
${program.commands.map((command) => `  ${JSON.stringify(written(command))},\n`).join('')}];
`;
}

function flagOf(option: Option): CompletionFlag {
  const { short, long, description, required, optional } = option;
  return {
    names: [short, long].filter((name) => name !== undefined && name !== null),
    about: description.split('\n')[0]?.slice(0, 80) ?? '',
    ...((required || optional) && { values: choicesOf(option) }),
    ...(/repeat it for/.test(description) && { repeatable: true }),
  };
}
