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
  const command = leafCommand(existingGroup(program, 'events'), 'watch', 'Print events as they occur')
    .description(
      'Print one line for each event as it occurs, until you press Ctrl-C. If the connection to the service is lost, the command reconnects.',
    )
    .option('--type <types>', "only these comma-separated event types, such as order.paid,'product.*'")
    .option('--after <event-id>', 'start after this event instead of now')
    .addHelpText('after', '\nRequires the scope events.read, and the read scope of each resource whose events are shown.')
    .action(async () => watch(io, settingsOf(globalFlagsOf(command), io), command.opts<Flags>()));
}

async function watch(io: Io, settings: Settings, flags: Flags): Promise<void> {
  const options = { after: afterOf(flags.after), type: eventTypesOf('--type', flags.type) };
  const session = await openSession(io, settings);
  requireScopes(session, ['events.read']);
  try {
    for await (const event of patientEvents(io, settings, session.client, options)) {
      io.stdout.write(settings.format === 'text' ? `${plainText(formatEvent(event))}\n` : jsonLine(io, settings, event));
    }
  } catch (error) {
    throw explained(error, specOf('events.list'), undefined);
  }
}

const formatEvent = ({ id, type, timestamp, subject }: MandateEvent): string =>
  `${new Date(timestamp).toLocaleTimeString('sv')}  evt_${id}  ${type}  ${subject.type} ${subject.id}`;
