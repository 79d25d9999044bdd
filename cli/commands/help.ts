import type { Command } from 'commander';
import { helpTopics } from '../help-topics.ts';
import type { Io } from '../io.ts';
import { findCommand, leafCommand, unknownCommand } from '../program-parts.ts';

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
  const child = findCommand(command, word);
  if (child) return child;
  throw unknownCommand(command, word, command.parent ? [] : Object.keys(helpTopics));
}
