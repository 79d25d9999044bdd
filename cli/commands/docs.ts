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
    .description('Open the API reference of the service in the browser, at the operation of a command. In a pipe, print its URL.')
    .argument('[command...]', 'the words of a command: orders create')
    .action(async (words: readonly string[]) => openReference(io, settingsOf(globalFlagsOf(command), io), words));
}

async function openReference(io: Io, settings: Settings, words: readonly string[]): Promise<void> {
  const anchor = anchorOf(words);
  const { apiUrl } = await openSession(io, settings);
  await openPage(io, settings, `${apiUrl}/docs${anchor}`);
}

/** Operations of the commands that no operation is named for. */
const operationsBehind: Readonly<Record<string, string>> = {
  ...Object.fromEntries(Object.entries(byHand).map(([operationId, words]) => [words, operationId])),
  'orders pay': 'payments.create',
  'orders watch': 'orders.get',
  'tasks wait': 'tasks.get',
  'events watch': 'events.list',
  'webhooks listen': 'events.list',
};

/** The place of an operation or a group in the reference, as its deep links name it. */
function anchorOf([groupWord, nameWord]: readonly string[]): string {
  if (groupWord === undefined) return '';
  const group = groupNamed(groupWord);
  const ofGroup = commandSpecs.filter((spec) => spec.group === group);
  const name = resolveAlias(
    nameWord,
    ofGroup.map((spec) => spec.name),
    aliasOfCommand,
  );
  const behind = operationsBehind[`${group} ${name}`];
  const found = behind === undefined ? ofGroup.find((spec) => spec.name === (name ?? spec.name)) : specOf(behind);
  if (found) return `#/${[found.tag, ...(name === undefined ? [] : [found.operationId])].map(encodeURIComponent).join('/')}`;
  throw unknownOperation([groupWord, nameWord].filter(Boolean).join(' '));
}

function unknownOperation(typed: string): CommandFailure {
  const known = [...commandSpecs.map((spec) => `${spec.group} ${spec.name}`), ...Object.keys(operationsBehind)];
  const meant = nearest(typed, [...known, ...commandSpecs.map((spec) => spec.group)]);
  const hint = meant === undefined ? 'Every command: mandate commands' : `Did you mean mandate docs ${meant}?`;
  return new CommandFailure(exitCodes.usage, 'usage', `The API has no operation ${typed}`, { hint });
}
