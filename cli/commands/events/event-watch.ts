import type { Command } from 'commander';
import type { MandateEvent } from '@mandate/client-sdk/webhooks';
import { commandErrorFromCallError, getCommandSpecForOperation } from '../../contract-commands/build-request-and-convert-api-errors.ts';
import { parseEventTypes } from '../../webhooks/parse-event-types.ts';
import { parseAfterEventIdFlag, pollEvents } from '../../webhooks/poll-events.ts';
import type { CliEnvironment } from '../../environment/cli-environment-type.ts';
import { sanitizeForTerminal } from '../../terminal/sanitize-and-measure-terminal-text.ts';
import { getCommandGroupOrThrow, readGlobalFlags, addCommandWithoutSubcommands } from '../global-flags-and-command-groups.ts';
import { openProfileSession, assertSignedInWithScopes } from '../../sign-in/profile-session.ts';
import { settingsFromFlagsEnvironmentAndProfile, type Settings } from '../../settings/resolve-settings.ts';
import { formatJsonLineOrJqResults } from '../../output/print-result.ts';

type Flags = { readonly type?: string; readonly after?: string };

export function addEventsWatchCommand(program: Command, io: CliEnvironment): void {
  const command = addCommandWithoutSubcommands(getCommandGroupOrThrow(program, 'events'), 'watch', 'Print events as they occur')
    .description(
      'Print one line for each event as it occurs, until you press Ctrl-C. If the connection to the service is lost, the command reconnects.',
    )
    .option('--type <types>', "only these comma-separated event types, such as order.paid,'product.*'")
    .option('--after <event-id>', 'start after the event with this ID (default: new events only)')
    .addHelpText('after', '\nRequires the scope events.read, and the read scope of each resource whose events are shown.')
    .action(async () => watch(io, settingsFromFlagsEnvironmentAndProfile(readGlobalFlags(command), io), command.opts<Flags>()));
}

async function watch(io: CliEnvironment, settings: Settings, flags: Flags): Promise<void> {
  const options = { after: parseAfterEventIdFlag(flags.after), type: parseEventTypes('--type', flags.type) };
  const session = await openProfileSession(io, settings);
  assertSignedInWithScopes(session, ['events.read']);
  try {
    for await (const event of pollEvents(io, settings, session.client, options)) {
      io.stdout.write(
        settings.format === 'text' ? `${sanitizeForTerminal(formatEvent(event))}\n` : formatJsonLineOrJqResults(io, settings, event),
      );
    }
  } catch (error) {
    throw commandErrorFromCallError(error, getCommandSpecForOperation('events.list'), undefined);
  }
}

const formatEvent = ({ id, type, timestamp, subject }: MandateEvent): string =>
  `${new Date(timestamp).toLocaleTimeString('sv')}  evt_${id}  ${type}  ${subject.type} ${subject.id}`;
