import { Option, type Command } from 'commander';
import { getCommandAlias, getCommandGroupAlias } from '../contract-commands/command-aliases.ts';
import { CommandError } from '../errors/command-error.ts';
import { exitCodes } from '../errors/exit-codes.ts';
import { findClosestMatch } from '../terminal/find-closest-match.ts';
import type { GlobalFlags } from '../settings/resolve-settings.ts';

const globalFlags: readonly (readonly [flags: string, description: string])[] = [
  ['-p, --profile <name>', 'profile whose credentials and settings are used (MANDATE_PROFILE)'],
  ['--api-url <url>', 'URL of the service (MANDATE_API_URL)'],
  ['--json', 'print the response body as one JSON document'],
  ['--jsonl', 'print lists as one JSON value per line'],
  ['--fields <names>', 'print only these comma-separated fields'],
  ['--get <path>', 'print only the values at this path, one per line'],
  ['--jq <filter>', 'filter the JSON output with jq; strings are printed without quotes'],
  ['-q, --quiet', 'suppress notices, but not errors'],
  ['--no-input', 'never prompt (CI)'],
  ['--color <when>', 'when to color the output: auto, always or never (NO_COLOR, FORCE_COLOR)'],
  ['--no-color', 'same as --color never'],
  ['--timeout <duration>', 'timeout for each request, such as 30s (MANDATE_TIMEOUT)'],
  ['--debug', 'log requests to standard error (MANDATE_DEBUG=1)'],
];

const globalHeading = 'Global options:';

/** Returns whether an option is one of the global flags that every command has. */
export const isGlobalOption = ({ helpGroupHeading }: Option): boolean => helpGroupHeading === globalHeading;

const choices = new WeakMap<object, readonly string[]>();

/** Sets the values that completion suggests for an option. The command itself still has to validate the value. */
export function setCompletionChoices(option: Option, values: readonly string[]): Option {
  choices.set(option, values);
  return option;
}
export const getCompletionChoices = (option: Option): readonly string[] => choices.get(option) ?? [];

/**
 * Adds the global flags to a command and all its subcommands, so that they are accepted in any position. If only the root command had the
 * global flags, it would also parse its subcommands' arguments and read the value in `--sort -price` as `-p rice`.
 */
export function addGlobalFlags(command: Command): void {
  command.enablePositionalOptions();
  const isGroup = command.parent !== null && command.commands.length > 0;
  for (const [flags, description] of globalFlags) {
    const option = new Option(flags, description).helpGroup(globalHeading).hideHelp(isGroup);
    // `--no-input` is a separate flag, not the negation of `--input`, which some commands have.
    if (flags === '--no-input') option.negate = false;
    if (flags.startsWith('--color')) setCompletionChoices(option, ['auto', 'always', 'never']);
    command.addOption(option);
  }
  command.commands.forEach(addGlobalFlags);
}

/** Returns the global flags on the command line. A flag after the subcommand overrides the same flag before it. */
export function readGlobalFlags(command: Command): GlobalFlags {
  const given = Object.entries(command.opts()).filter(([name]) => command.getOptionValueSource(name) === 'cli');
  return { ...(command.parent && readGlobalFlags(command.parent)), ...Object.fromEntries(given) };
}

/** Adds a command without subcommands to `parent`. */
export function addCommandWithoutSubcommands(parent: Command, name: string, summary: string): Command {
  const command = parent.command(name).summary(summary).description(`${summary}.`);
  const alias = parent.parent ? getCommandAlias(name) : undefined;
  return alias === undefined ? command : command.alias(alias);
}

/** Adds a command that only has subcommands. Without a subcommand, the command prints its help and exits with code 0. */
export function addCommandGroup(program: Command, name: string, summary: string): Command {
  const group = program.command(name).summary(summary).description(summary).argument('[command]').usage('<command>');
  const alias = getCommandGroupAlias(name);
  if (alias !== undefined) group.alias(alias);
  group.action((word: string | undefined) => {
    if (word === undefined) return group.outputHelp();
    throw createUnknownCommandError(group, word);
  });
  return group;
}

/** Returns the error for an unknown subcommand of `parent`. The hint suggests the closest command, or lists all commands. */
export function createUnknownCommandError(parent: Command, word: string, topics: readonly string[] = []): CommandError {
  const prefix = parent.parent ? `mandate ${parent.name()} ` : 'mandate ';
  const closest = findClosestMatch(word, [...parent.commands.flatMap((command) => [command.name(), ...command.aliases()]), ...topics]);
  const known = [...parent.commands.map((command) => command.name()), ...topics];
  const hint =
    closest === undefined
      ? `Available commands: ${known.join(', ')}`
      : `Did you mean ${prefix}${topics.includes(closest) ? 'help ' : ''}${closest}?`;
  return new CommandError(exitCodes.usage, 'usage', `Unknown command: ${prefix}${word}`, { hint });
}

/** Returns the subcommand of `parent` with this name or alias. */
export const findSubcommand = (parent: Command, word: string): Command | undefined =>
  parent.commands.find((command) => command.name() === word || command.aliases().includes(word));

/** Returns a command group that has already been added, or throws. */
export function getCommandGroupOrThrow(program: Command, name: string): Command {
  const group = program.commands.find((command) => command.name() === name);
  if (!group) throw new Error(`command group ${name} is not registered`);
  return group;
}
