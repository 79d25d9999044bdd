import { Option, type Command } from 'commander';
import { getCommandAlias, getCommandGroupAlias, resolveCommandAlias } from '../contract-commands/command-aliases.ts';
import { handwrittenCommandNamesByOperation } from '../contract-commands/handwritten-command-names.ts';
import { commandSpecs, commandGroupSummaries } from '../contract-commands/commands.gen.ts';
import type { CommandSpec } from '../schema/command-spec-type.ts';
import { formatFlagHelp, flagsFromCommandSpec, snakeToKebabCase, type ContractFlag } from '../contract-commands/flags-from-command-spec.ts';
import type { CliEnvironment } from '../environment/cli-environment-type.ts';
import { readGlobalFlags, addCommandGroup, addCommandWithoutSubcommands, setCompletionChoices } from './global-flags-and-command-groups.ts';
import { findConfirmationQuestionBuilder } from '../contract-commands/confirmation-questions.ts';
import type { RawFlagValues } from '../contract-commands/parse-flag-values.ts';
import { runApiOperationCommand, type NonParameterFlags } from './run-api-operation-command.ts';
import { settingsFromFlagsEnvironmentAndProfile } from '../settings/resolve-settings.ts';

/** The command groups with generated commands. */
const groupNames = [
  ...new Set(commandSpecs.flatMap(({ operationId, group }) => (operationId in handwrittenCommandNamesByOperation ? [] : [group]))),
];

/** Returns the full name of the command group with this name or alias. Returns an unknown word unchanged. */
export const resolveCommandGroupName = (word: string): string => resolveCommandAlias(word, groupNames, getCommandGroupAlias) ?? word;

/**
 * Adds one command for each operation in the contract: `mandate <resource> <operation>`. `onlyGroup` restricts the commands to one group.
 * `onlyName` restricts the commands to one command of this group, and has no effect if the group has no such command. Returns whether only
 * the command `onlyName` was added.
 */
export function addApiOperationCommands(program: Command, io: CliEnvironment, onlyGroup?: string, onlyName?: string): boolean {
  const candidates = commandSpecs.filter(
    ({ operationId, group }) => !(operationId in handwrittenCommandNamesByOperation) && (onlyGroup ?? group) === group,
  );
  const names = candidates.map(({ name }) => name);
  const onlySpec =
    onlyGroup === undefined ? undefined : candidates.find(({ name }) => name === resolveCommandAlias(onlyName, names, getCommandAlias));
  const specs = onlySpec ? [onlySpec] : candidates;
  for (const [group, groupSpecs] of Map.groupBy(specs, (spec) => spec.group)) {
    const parent = addCommandGroup(program, group, commandGroupSummaries[group] ?? '');
    for (const spec of groupSpecs) addContractCommand(parent, spec, io);
  }
  return onlySpec !== undefined;
}

function addContractCommand(parent: Command, spec: CommandSpec, io: CliEnvironment): void {
  const command = addCommandWithoutSubcommands(parent, spec.name, spec.summary);
  if (spec.description) command.description(`${spec.summary}.\n${spec.description}`);
  for (const { name, schema } of spec.pathParameters) command.argument(`<${snakeToKebabCase(name)}>`, schema.description);
  const typed = addOperationFlagsAndCollectValues(command, spec);
  if (spec.body) command.option('--input <file>', 'read the JSON body from a file, or from standard input (-); flags override its fields');
  if (spec.ifMatch) command.option('--if-match <etag>', 'change the resource only if it still has this ETag');
  if (spec.paginated) command.option('--all', 'fetch every page');
  if (spec.method === 'GET') command.option('-w, --web', 'open the corresponding web page in the browser');
  if (findConfirmationQuestionBuilder(spec)) command.option('-y, --yes', 'skip the confirmation prompt');
  command.option('--print-request', 'print the request without sending it');
  if (spec.scopes.length > 0) command.addHelpText('after', `\nRequires the scope ${spec.scopes.join(' or ')}.`);
  command.action(async () => {
    const settings = settingsFromFlagsEnvironmentAndProfile(readGlobalFlags(command), io);
    await runApiOperationCommand({ io, settings, spec, path: command.args, typed, own: command.opts<NonParameterFlags>() });
  });
}

/** Adds an operation's flags to a command. Returns a map to which the parser adds the values of each flag, in command-line order. */
export function addOperationFlagsAndCollectValues(command: Command, spec: CommandSpec): RawFlagValues {
  const typed = new Map<ContractFlag, string[]>();
  for (const flag of flagsFromCommandSpec(spec)) addFlag(command, flag, typed);
  if (spec.idempotent)
    command.option('--idempotency-key <key>', 'key that makes retries safe: requests with this key are executed at most once');
  return typed;
}

const allowedValues = ({ schema }: ContractFlag): string[] => {
  const { enum: choices = [], type } = schema.items ?? schema;
  return type.includes('boolean') ? ['true', 'false'] : choices.filter((choice) => choice !== null);
};

function addFlag(command: Command, flag: ContractFlag, typed: Map<ContractFlag, string[]>): void {
  const description = formatFlagHelp(flag);
  if (flag.kind === 'switch') {
    command.option(flag.name, description.replace(/^`true` /, ''));
    command.on(`option:${flag.name.slice(2)}`, () => typed.set(flag, ['true']));
    return;
  }
  const value = flag.kind === 'objects' || flag.kind === 'pairs' ? 'pairs' : 'value';
  const option = new Option(`${flag.name} <${value}>`, description).argParser((text: string) => {
    typed.set(flag, [...(typed.get(flag) ?? []), text]);
    return text;
  });
  command.addOption(setCompletionChoices(option, allowedValues(flag)));
}
