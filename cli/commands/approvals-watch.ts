import type { Command } from 'commander';
import { formatMoney, type Approval } from '@mandate/client-sdk';
import { commandErrorFromCallError, getCommandSpecForOperation } from '../contract-commands/build-request-and-convert-api-errors.ts';
import type { CliEnvironment } from '../environment/cli-environment-type.ts';
import { formatJsonLineOrJqResults } from '../output/print-result.ts';
import { settingsFromFlagsEnvironmentAndProfile, type Settings } from '../settings/resolve-settings.ts';
import { openProfileSession, assertSignedInWithScopes } from '../sign-in/profile-session.ts';
import { sanitizeForTerminal } from '../terminal/sanitize-and-measure-terminal-text.ts';
import { pollEvents } from '../webhooks/poll-events.ts';
import { addCommandWithoutSubcommands, readGlobalFlags, getCommandGroupOrThrow } from './global-flags-and-command-groups.ts';

type ShownApproval = Omit<Approval, 'items'>;

export function addApprovalsWatchCommand(program: Command, io: CliEnvironment): void {
  const command = addCommandWithoutSubcommands(
    getCommandGroupOrThrow(program, 'approvals'),
    'watch',
    'Print approval requests as they arrive',
  )
    .description(
      'Print the pending approval requests, and then one line for each new request and decision, until you press Ctrl-C. Approve or decline a request in another terminal.',
    )
    .addHelpText('after', '\nRequires the scopes orders.read and events.read.')
    .action(async () => watch(io, settingsFromFlagsEnvironmentAndProfile(readGlobalFlags(command), io)));
}

async function watch(io: CliEnvironment, settings: Settings): Promise<void> {
  const session = await openProfileSession(io, settings);
  assertSignedInWithScopes(session, ['orders.read', 'events.read']);
  const print = (approval: ShownApproval): void =>
    io.stdout.write(
      settings.format === 'text' ? `${sanitizeForTerminal(formatApproval(approval))}\n` : formatJsonLineOrJqResults(io, settings, approval),
    );
  try {
    // The feed position is read before the list, so that requests made in between are not missed.
    const { latest_id: after } = await session.client.events.list({ limit: 1 }, { signal: io.interrupted });
    const pending = await session.client.approvals.list({ status: ['pending'] }, { signal: io.interrupted });
    for (const approval of pending.data.toReversed()) print(approval);
    for await (const event of pollEvents(io, settings, session.client, { after, type: ['approval.*'] })) {
      if (event.subject.type === 'approval') print(event.data.object as ShownApproval); // oxlint-disable-line typescript/no-unsafe-type-assertion -- the subject determines the type
    }
  } catch (error) {
    throw commandErrorFromCallError(error, getCommandSpecForOperation('approvals.list'), undefined);
  }
}

const formatApproval = ({ id, status, application_name: application, total, currency, created_at: at }: ShownApproval): string =>
  `${new Date(at).toLocaleTimeString('sv')}  ${id}  ${status}  ${formatMoney(total, currency)}  ${application}`;
