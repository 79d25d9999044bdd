import type { Command } from 'commander';
import { helpTopics } from '../output/help-topics.ts';
import type { CliEnvironment } from '../environment/cli-environment-type.ts';
import { renderManPage } from './render-man-page.ts';
import { findSubcommand, addCommandWithoutSubcommands, createUnknownCommandError } from './global-flags-and-command-groups.ts';

const topicList = Object.entries(helpTopics)
  .map(([name, { summary }]) => `\n  ${name.padEnd(14)}${summary}`)
  .join('');

export function addHelpCommand(program: Command, io: CliEnvironment): void {
  addCommandWithoutSubcommands(program, 'help', 'Show help for a command or topic')
    .argument('[command...]', 'name of a command or topic')
    .option('--man', 'print the man page, as in: mandate help orders pay --man | man -l -')
    .addHelpText('after', `\nTopics:${topicList}`)
    .action((words: readonly string[], { man = false }: { man?: boolean }) => {
      const topic = Object.hasOwn(helpTopics, words.join(' ')) ? helpTopics[words.join(' ')] : undefined;
      if (topic) return io.stdout.write(topic.text);
      const command = words.reduce(requireSubcommand, program);
      if (man) return io.stdout.write(renderManPage(command));
      command.outputHelp();
    });
}

function requireSubcommand(command: Command, word: string): Command {
  const child = findSubcommand(command, word);
  if (child) return child;
  throw createUnknownCommandError(command, word, command.parent ? [] : Object.keys(helpTopics));
}
