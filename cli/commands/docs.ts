import type { Command } from 'commander';
import { aliasOfCommand, resolveAlias } from '../contract-commands/command-aliases.ts';
import { byHand } from '../contract-commands/handwritten-commands.ts';
import { CommandFailure } from '../errors/command-error.ts';
import { commandSpecs } from '../contract-commands/commands.gen.ts';
import { specOf } from '../contract-commands/build-request.ts';
import { exitCodes } from '../errors/exit-codes.ts';
import type { Io } from '../environment.ts';
import { nearest } from '../terminal/did-you-mean.ts';
import { globalFlagsOf, leafCommand } from '../command-helpers.ts';
import { openSession } from '../sign-in/session.ts';
import { settingsOf, type Settings } from '../settings/settings.ts';
import { openPage } from '../output/web-pages.ts';
import { groupNamed } from './contract-commands.ts';

export function addDocs(program: Command, io: Io): void {
  const command = leafCommand(program, 'docs', 'Open the API reference')
    .description('Open the API reference in the browser, at the operation of a command. In a pipe, print the URL instead.')
    .argument('[command...]', 'name of a command, such as orders create')
    .action(async (words: readonly string[]) => openReference(io, settingsOf(globalFlagsOf(command), io), words));
}

async function openReference(io: Io, settings: Settings, words: readonly string[]): Promise<void> {
  const fragment = referenceFragment(words);
  const { apiUrl } = await openSession(io, settings);
  await openPage(io, settings, `${apiUrl}/docs${fragment}`);
}

/** The API operations of commands that are not named after an operation. */
const operationsOfCustomCommands: Readonly<Record<string, string>> = {
  ...Object.fromEntries(Object.entries(byHand).map(([operationId, words]) => [words, operationId])),
  'orders pay': 'payments.create',
  'orders watch': 'orders.get',
  'tasks wait': 'tasks.get',
  'events watch': 'events.list',
  'webhooks listen': 'events.list',
};

/** Returns the URL fragment of an operation or a group in the API reference. */
function referenceFragment([groupWord, nameWord]: readonly string[]): string {
  if (groupWord === undefined) return '';
  const group = groupNamed(groupWord);
  const groupSpecs = commandSpecs.filter((spec) => spec.group === group);
  const name = resolveAlias(
    nameWord,
    groupSpecs.map((spec) => spec.name),
    aliasOfCommand,
  );
  const operationId = operationsOfCustomCommands[`${group} ${name}`];
  const found = operationId === undefined ? groupSpecs.find((spec) => spec.name === (name ?? spec.name)) : specOf(operationId);
  if (found) return `#/${[found.tag, ...(name === undefined ? [] : [found.operationId])].map(encodeURIComponent).join('/')}`;
  throw unknownOperationError([groupWord, nameWord].filter(Boolean).join(' '));
}

function unknownOperationError(typed: string): CommandFailure {
  const known = [...commandSpecs.map((spec) => `${spec.group} ${spec.name}`), ...Object.keys(operationsOfCustomCommands)];
  const closest = nearest(typed, [...known, ...commandSpecs.map((spec) => spec.group)]);
  const hint = closest === undefined ? 'List every command with: mandate commands' : `Did you mean mandate docs ${closest}?`;
  return new CommandFailure(exitCodes.usage, 'usage', `The API has no operation for: ${typed}`, { hint });
}
