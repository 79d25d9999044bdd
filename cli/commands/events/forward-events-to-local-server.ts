import type { Command } from 'commander';
import { isLoopback } from '@mandate/client-sdk';
import { type MandateEvent, signWebhook } from '@mandate/client-sdk/webhooks';
import { CommandError } from '../../errors/command-error.ts';
import { requireConfirmation } from '../../contract-commands/require-confirmation.ts';
import { commandErrorFromCallError, getCommandSpecForOperation } from '../../contract-commands/build-request-and-convert-api-errors.ts';
import { parseEventTypes } from '../../webhooks/parse-event-types.ts';
import { exitCodes } from '../../errors/exit-codes.ts';
import { parseAfterEventIdFlag, pollEvents } from '../../webhooks/poll-events.ts';
import { forwardEvent, type ForwardResult, type ForwardTarget } from '../../webhooks/forward-event.ts';
import type { CliEnvironment } from '../../environment/cli-environment-type.ts';
import { sanitizeForTerminal } from '../../terminal/sanitize-and-measure-terminal-text.ts';
import { getCommandGroupOrThrow, readGlobalFlags, addCommandWithoutSubcommands } from '../global-flags-and-command-groups.ts';
import { openProfileSession, assertSignedInWithScopes } from '../../sign-in/profile-session.ts';
import { settingsFromFlagsEnvironmentAndProfile, type Settings } from '../../settings/resolve-settings.ts';
import { formatJsonLineOrJqResults } from '../../output/print-result.ts';
import { loadOrCreateSigningSecret } from '../../webhooks/load-or-create-signing-secret.ts';

type Flags = {
  readonly forwardTo?: string;
  readonly events?: string;
  readonly after?: string;
  readonly headers?: readonly string[];
  readonly printSecret?: boolean;
  readonly skipVerify?: boolean;
  readonly yes?: boolean;
};

export function addForwardEventsToLocalServerCommand(program: Command, io: CliEnvironment): void {
  const command = addCommandWithoutSubcommands(
    getCommandGroupOrThrow(program, 'webhooks'),
    'listen',
    'Forward events to a server on your machine',
  )
    .description(
      "Forward events to a server on your machine until you press Ctrl-C. Requests are signed like the service's webhooks, but no endpoint is registered. If the connection to the service is lost, the command reconnects without skipping or repeating events.",
    )
    .option('--forward-to <url>', 'URL that receives the events, such as http://localhost:3001/hooks (default: print only)')
    .option('--events <types>', "only these comma-separated event types, such as order.paid,'order.*'")
    .option('--after <event-id>', 'start after the event with this ID (default: new events only)')
    .option('--headers <name:value...>', 'add these request headers')
    .option('--print-secret', 'print the signing secret and exit')
    .option('--skip-verify', 'accept invalid TLS certificates')
    .option('-y, --yes', 'skip the confirmation before forwarding to another machine')
    .addHelpText('after', '\nRequires the scope events.read, and the read scope of each resource whose events are forwarded.')
    .action(async () => listen(io, settingsFromFlagsEnvironmentAndProfile(readGlobalFlags(command), io), command.opts<Flags>()));
}

async function listen(io: CliEnvironment, settings: Settings, flags: Flags): Promise<void> {
  const secret = await loadOrCreateSigningSecret(settings);
  if (flags.printSecret) return io.stdout.write(`${secret}\n`);
  const options = { after: parseAfterEventIdFlag(flags.after), type: parseEventTypes('--events', flags.events) };
  const target = flags.forwardTo === undefined ? undefined : parseTarget(flags.forwardTo, flags);
  const session = await openProfileSession(io, settings);
  assertSignedInWithScopes(session, ['events.read']);
  if (target && !isLoopback(target.url.hostname)) {
    await requireConfirmation(io, settings, () => `Forward events to ${target.url.host}, which is not this machine?`, flags.yes ?? false);
  }
  if (!settings.quiet)
    io.stderr.write(
      `${sanitizeForTerminal(target ? `Forwarding events to ${target.url.href}` : 'Listening for events')}; press Ctrl-C to stop\n`,
    );
  const processed = { count: 0, lastId: options.after };
  try {
    for await (const event of pollEvents(io, settings, session.client, options)) {
      await handleEvent(io, settings, event, target, secret);
      processed.count += 1;
      processed.lastId = event.id;
    }
  } catch (error) {
    throw commandErrorFromCallError(error, getCommandSpecForOperation('events.list'), undefined);
  } finally {
    const resume = processed.lastId === undefined ? '' : `; resume with --after ${processed.lastId}`;
    if (!settings.quiet) io.stderr.write(`Stopped after ${processed.count} ${processed.count === 1 ? 'event' : 'events'}${resume}\n`);
  }
}

function parseTarget(text: string, { headers = [], skipVerify = false }: Flags): ForwardTarget {
  if (!URL.canParse(text) || !/^https?:$/.test(new URL(text).protocol))
    throw usageError(`--forward-to must be a URL such as http://localhost:3001/hooks, not ${JSON.stringify(text)}`);
  const pairs = headers.map((header) => {
    const [, name, value] = /^([A-Za-z0-9-]+): *([\t\x20-\x7E]*)$/.exec(header) ?? [];
    if (name === undefined || value === undefined)
      throw usageError(`--headers must have the form name:value, not ${JSON.stringify(header)}`);
    return [name, value] as const;
  });
  return { url: new URL(text), headers: Object.fromEntries(pairs), skipVerify };
}

const usageError = (message: string): CommandError => new CommandError(exitCodes.usage, 'usage', message);

const currentTime = (): string => new Date().toLocaleTimeString('sv');

async function handleEvent(
  io: CliEnvironment,
  settings: Settings,
  event: MandateEvent,
  target: ForwardTarget | undefined,
  secret: string,
): Promise<void> {
  const id = `evt_${event.id}`;
  const { format } = settings;
  if (format === 'text') io.stdout.write(`${sanitizeForTerminal(`${currentTime()}  → ${event.type}  ${id}`)}\n`);
  const body = JSON.stringify(event);
  const result =
    target && (await forwardEvent(target, { ...target.headers, ...(await signWebhook(id, body, secret)) }, body, io.interrupted));
  if (format !== 'text') return io.stdout.write(formatJsonLineOrJqResults(io, settings, { event, forwarded: result ?? null }));
  if (target && result)
    io.stdout.write(
      `${sanitizeForTerminal(`${currentTime()}  ← ${formatOutcome(result)}  POST ${target.url.href}  ${id}  (${result.milliseconds} ms)`)}\n`,
    );
}

const formatOutcome = ({ status, error }: ForwardResult): string => (status === null ? (error ?? 'no response') : String(status));
