import type { Command } from 'commander';
import { CommandFailure } from '../command-failure.ts';
import { exitCodes } from '../exit-codes.ts';
import { helpTopics } from '../help-topics.ts';
import type { Io } from '../io.ts';
import { leafCommand } from '../program-parts.ts';

const topicList = Object.entries(helpTopics)
  .map(([name, { summary }]) => `\n  ${name.padEnd(14)}${summary}`)
  .join('');

export function addHelp(program: Command, io: Io): void {
  leafCommand(program, 'help', 'What a command does and takes')
    .argument('[command...]', 'the words of a command, or a topic')
    .addHelpText('after', `\nTopics:${topicList}`)
    .action((words: readonly string[]) => {
      const topic = Object.hasOwn(helpTopics, words.join(' ')) ? helpTopics[words.join(' ')] : undefined;
      if (topic) return io.stdout.write(topic.text);
      words.reduce((command, word) => childOf(command, word), program).outputHelp();
    });
}

function childOf(command: Command, word: string): Command {
  const child = command.commands.find((candidate) => candidate.name() === word);
  if (child) return child;
  const known = command.commands.map((candidate) => candidate.name());
  throw new CommandFailure(exitCodes.usage, 'usage', `There is no command ${word}`, {
    hint: `There are: ${[...known, ...(command.parent ? [] : Object.keys(helpTopics))].join(', ')}`,
  });
}
