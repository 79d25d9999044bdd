import type { Command } from 'commander';
import { getCommandAlias, resolveCommandAlias } from '../contract-commands/command-aliases.ts';
import { handwrittenCommandNamesByOperation } from '../contract-commands/handwritten-command-names.ts';
import { CommandError } from '../errors/command-error.ts';
import { commandSpecs } from '../contract-commands/commands.gen.ts';
import { getCommandSpecForOperation } from '../contract-commands/build-request-and-convert-api-errors.ts';
import { exitCodes } from '../errors/exit-codes.ts';
import type { CliEnvironment } from '../environment/cli-environment-type.ts';
import { findClosestMatch } from '../terminal/find-closest-match.ts';
import { readGlobalFlags, addCommandWithoutSubcommands } from './global-flags-and-command-groups.ts';
import { openProfileSession } from '../sign-in/profile-session.ts';
import { settingsFromFlagsEnvironmentAndProfile, type Settings } from '../settings/resolve-settings.ts';
import { openUrlInBrowserOrPrint } from '../output/find-and-open-web-page-url.ts';
import { resolveCommandGroupName } from './add-api-operation-commands.ts';

export function addOpenReferenceInBrowserCommand(program: Command, io: CliEnvironment): void {
  const command = addCommandWithoutSubcommands(program, 'docs', 'Open the API reference')
    .description(
      'Open the API reference in the browser, at the operation that a command calls. If the output is piped, print the URL instead.',
    )
    .argument('[command...]', 'name of a command, such as orders create')
    .action(async (words: readonly string[]) =>
      openReference(io, settingsFromFlagsEnvironmentAndProfile(readGlobalFlags(command), io), words),
    );
}

async function openReference(io: CliEnvironment, settings: Settings, words: readonly string[]): Promise<void> {
  const fragment = referenceFragment(words);
  const { apiUrl } = await openProfileSession(io, settings);
  await openUrlInBrowserOrPrint(io, settings, `${apiUrl}/docs${fragment}`);
}

/** API operations that handwritten commands call, by command name. */
const operationsOfCustomCommands: Readonly<Record<string, string>> = {
  ...Object.fromEntries(Object.entries(handwrittenCommandNamesByOperation).map(([operationId, words]) => [words, operationId])),
  'orders pay': 'payments.create',
  'orders watch': 'orders.get',
  'tasks wait': 'tasks.get',
  'events watch': 'events.list',
  'webhooks listen': 'events.list',
};

/** Returns the URL fragment of an operation or a group in the API reference. */
function referenceFragment([groupWord, nameWord]: readonly string[]): string {
  if (groupWord === undefined) return '';
  const group = resolveCommandGroupName(groupWord);
  const groupSpecs = commandSpecs.filter((spec) => spec.group === group);
  const name = resolveCommandAlias(
    nameWord,
    groupSpecs.map((spec) => spec.name),
    getCommandAlias,
  );
  const operationId = operationsOfCustomCommands[`${group} ${name}`];
  const found =
    operationId === undefined ? groupSpecs.find((spec) => spec.name === (name ?? spec.name)) : getCommandSpecForOperation(operationId);
  if (found) return `#/${[found.tag, ...(name === undefined ? [] : [found.operationId])].map(encodeURIComponent).join('/')}`;
  throw unknownOperationError([groupWord, nameWord].filter(Boolean).join(' '));
}

function unknownOperationError(typed: string): CommandError {
  const known = [...commandSpecs.map((spec) => `${spec.group} ${spec.name}`), ...Object.keys(operationsOfCustomCommands)];
  const closest = findClosestMatch(typed, [...known, ...commandSpecs.map((spec) => spec.group)]);
  const hint = closest === undefined ? 'List every command with: mandate commands' : `Did you mean mandate docs ${closest}?`;
  return new CommandError(exitCodes.usage, 'usage', `The API has no operation for: ${typed}`, { hint });
}
