import type { Command } from 'commander';
import type { MandateEvent } from '@mandate/client-sdk/webhooks';
import { explained, specOf } from '../../contract-commands/build-request.ts';
import { eventTypesOf } from '../../webhooks/event-types.ts';
import { afterOf, patientEvents } from '../../webhooks/poll-events.ts';
import type { Io } from '../../environment.ts';
import { plainText } from '../../terminal/safe-terminal-text.ts';
import { existingGroup, globalFlagsOf, leafCommand } from '../../command-helpers.ts';
import { openSession, requireScopes } from '../../sign-in/session.ts';
import { settingsOf, type Settings } from '../../settings/settings.ts';
import { jsonLine } from '../../output/print-result.ts';

type Flags = { readonly type?: string; readonly after?: string };

export function addEventWatch(program: Command, io: Io): void {
  const command = leafCommand(existingGroup(program, 'events'), 'watch', 'Watch what happens')
    .description('Watch what happens: a line for each event, from now on, until you press Ctrl-C. A lost server is waited for.')
    .option('--type <types>', "only these, separated by commas: order.paid,'product.*'")
    .option('--after <event-id>', 'go on after this event, in place of now')
    .addHelpText('after', '\nNeeds the scope events.read, and for each kind of thing the scope that it takes elsewhere.')
    .action(async () => watch(io, settingsOf(globalFlagsOf(command), io), command.opts<Flags>()));
}

async function watch(io: Io, settings: Settings, flags: Flags): Promise<void> {
  const following = { after: afterOf(flags.after), type: eventTypesOf('--type', flags.type) };
  const session = await openSession(io, settings);
  requireScopes(session, ['events.read']);
  try {
    for await (const event of patientEvents(io, settings, session.client, following)) {
      io.stdout.write(settings.format === 'text' ? `${plainText(line(event))}\n` : jsonLine(io, settings, event));
    }
  } catch (error) {
    throw explained(error, specOf('events.list'), undefined);
  }
}

const line = ({ id, type, timestamp, subject }: MandateEvent): string =>
  `${new Date(timestamp).toLocaleTimeString('sv')}  evt_${id}  ${type}  ${subject.type} ${subject.id}`;
