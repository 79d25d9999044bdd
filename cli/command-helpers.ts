import { Option, type Command } from 'commander';
import { aliasOfCommand, aliasOfGroup } from './contract-commands/command-aliases.ts';
import { CommandFailure } from './errors/command-error.ts';
import { exitCodes } from './errors/exit-codes.ts';
import { nearest } from './terminal/did-you-mean.ts';
import type { GlobalFlags } from './settings/settings.ts';

const globalFlags: readonly (readonly [flags: string, description: string])[] = [
  ['-p, --profile <name>', 'whose credentials to use (MANDATE_PROFILE)'],
  ['--api-url <url>', 'where the service is (MANDATE_API_URL)'],
  ['--json', 'one JSON document on standard output, as the API sent it'],
  ['--jsonl', 'lists as one JSON value per line'],
  ['--fields <names>', 'only these fields, separated by commas'],
  ['--get <path>', 'only the values at this path, one per line'],
  ['--jq <filter>', 'filter the JSON with jq, and print text results without quotes'],
  ['-q, --quiet', 'no notices; errors stay'],
  ['--no-input', 'never ask anything (CI)'],
  ['--color <when>', 'auto, always or never (NO_COLOR, FORCE_COLOR)'],
  ['--no-color', 'the same as --color never'],
  ['--timeout <duration>', 'for each request: 30s (MANDATE_TIMEOUT)'],
  ['--debug', 'print on standard error what is asked (MANDATE_DEBUG=1)'],
];

const globalHeading = 'Global options:';

/** Whether every command has this flag. */
export const isGlobalFlag = ({ helpGroupHeading }: Option): boolean => helpGroupHeading === globalHeading;

const choices = new WeakMap<object, readonly string[]>();

/** What a flag can be set to, for completion; that it is one of these is checked where it is used. */
export function noteChoices(option: Option, values: readonly string[]): Option {
  choices.set(option, values);
  return option;
}
export const choicesOf = (option: Option): readonly string[] => choices.get(option) ?? [];

/**
 * The flags that may stand anywhere. Each command has them itself, because one that looks for its flags in the words of
 * another takes what is not meant for it: the value in `--sort -price` would become `-p rice`.
 */
export function addGlobalFlags(command: Command): void {
  command.enablePositionalOptions();
  const holdsOthers = command.parent !== null && command.commands.length > 0;
  for (const [flags, description] of globalFlags) {
    const option = new Option(flags, description).helpGroup(globalHeading).hideHelp(holdsOthers);
    // `--no-input` is a flag of its own: not the opposite of `--input`, which some commands have.
    if (flags === '--no-input') option.negate = false;
    if (flags.startsWith('--color')) noteChoices(option, ['auto', 'always', 'never']);
    command.addOption(option);
  }
  command.commands.forEach(addGlobalFlags);
}

/** What was typed of the global flags; nearer to the end of the line wins. */
export function globalFlagsOf(command: Command): GlobalFlags {
  const typed = Object.entries(command.opts()).filter(([name]) => command.getOptionValueSource(name) === 'cli');
  return { ...(command.parent && globalFlagsOf(command.parent)), ...Object.fromEntries(typed) };
}

export function leafCommand(parent: Command, name: string, summary: string): Command {
  const command = parent.command(name).summary(summary).description(`${summary}.`);
  const alias = parent.parent ? aliasOfCommand(name) : undefined;
  return alias === undefined ? command : command.alias(alias);
}

/** A command that only holds others. Alone it shows its help, which is no mistake. */
export function groupCommand(program: Command, name: string, summary: string): Command {
  const group = program.command(name).summary(summary).description(summary).argument('[command]').usage('<command>');
  const alias = aliasOfGroup(name);
  if (alias !== undefined) group.alias(alias);
  group.action((word: string | undefined) => {
    if (word === undefined) return group.outputHelp();
    throw unknownCommand(group, word);
  });
  return group;
}

/** The failure for a word that is no command of `parent`: with the command that was probably meant, or with all there are. */
export function unknownCommand(parent: Command, word: string, besides: readonly string[] = []): CommandFailure {
  const prefix = parent.parent ? `mandate ${parent.name()} ` : 'mandate ';
  const meant = nearest(word, [...parent.commands.flatMap((command) => [command.name(), ...command.aliases()]), ...besides]);
  const known = [...parent.commands.map((command) => command.name()), ...besides];
  const hint =
    meant === undefined ? `There are: ${known.join(', ')}` : `Did you mean ${prefix}${besides.includes(meant) ? 'help ' : ''}${meant}?`;
  return new CommandFailure(exitCodes.usage, 'usage', `There is no command ${prefix}${word}`, { hint });
}

/** The command of `parent` with this name or alias. */
export const findCommand = (parent: Command, word: string): Command | undefined =>
  parent.commands.find((command) => command.name() === word || command.aliases().includes(word));

/** A group that is there already. */
export function existingGroup(program: Command, name: string): Command {
  const group = program.commands.find((command) => command.name() === name);
  if (!group) throw new Error(`there is no group ${name}`);
  return group;
}
