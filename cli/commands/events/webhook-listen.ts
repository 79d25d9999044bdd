import type { Command } from 'commander';
import { isLoopback } from '@mandate/client-sdk';
import { type MandateEvent, signWebhook } from '@mandate/client-sdk/webhooks';
import { CommandFailure } from '../../errors/command-error.ts';
import { confirmed } from '../../contract-commands/confirm.ts';
import { explained, specOf } from '../../contract-commands/build-request.ts';
import { eventTypesOf } from '../../webhooks/event-types.ts';
import { exitCodes } from '../../errors/exit-codes.ts';
import { afterOf, patientEvents } from '../../webhooks/poll-events.ts';
import { forward, type Forwarded, type Target } from '../../webhooks/forward-event.ts';
import type { Io } from '../../environment.ts';
import { plainText } from '../../terminal/safe-terminal-text.ts';
import { existingGroup, globalFlagsOf, leafCommand } from '../../command-helpers.ts';
import { openSession, requireScopes } from '../../sign-in/session.ts';
import { settingsOf, type Settings } from '../../settings/settings.ts';
import { jsonLine } from '../../output/print-result.ts';
import { webhookSecret } from '../../webhooks/signing-secret.ts';

type Flags = {
  readonly forwardTo?: string;
  readonly events?: string;
  readonly after?: string;
  readonly headers?: readonly string[];
  readonly printSecret?: boolean;
  readonly skipVerify?: boolean;
  readonly yes?: boolean;
};

export function addWebhookListen(program: Command, io: Io): void {
  const command = leafCommand(existingGroup(program, 'webhooks'), 'listen', 'Have events sent to a server on your machine')
    .description(
      'Have events sent to a server on your machine, signed as the service signs them, until you press Ctrl-C. Nothing is registered. A lost service is waited for, and nothing is left out or sent twice.',
    )
    .option('--forward-to <url>', 'where they go: http://localhost:3001/hooks; without it they are only shown')
    .option('--events <types>', "only these types, separated by commas, such as order.paid or 'order.*'")
    .option('--after <event-id>', 'go on after this event, in place of now')
    .option('--headers <name:value...>', 'send these headers too')
    .option('--print-secret', 'print what the signatures are made with, and end')
    .option('--skip-verify', 'accept a certificate that is not valid')
    .option('-y, --yes', 'do not ask before sending to another machine')
    .addHelpText('after', '\nNeeds the scope events.read, and for each kind of thing the scope that it takes elsewhere.')
    .action(async () => listen(io, settingsOf(globalFlagsOf(command), io), command.opts<Flags>()));
}

async function listen(io: Io, settings: Settings, flags: Flags): Promise<void> {
  const secret = await webhookSecret(settings);
  if (flags.printSecret) return io.stdout.write(`${secret}\n`);
  const following = { after: afterOf(flags.after), type: eventTypesOf('--events', flags.events) };
  const target = flags.forwardTo === undefined ? undefined : targetOf(flags.forwardTo, flags);
  const session = await openSession(io, settings);
  requireScopes(session, ['events.read']);
  if (target && !isLoopback(target.url.hostname)) {
    await confirmed(io, settings, () => `Send what happens to ${target.url.host}, which is not this machine?`, flags.yes ?? false);
  }
  if (!settings.quiet) io.stderr.write(`${plainText(target ? `sending to ${target.url.href}` : 'listening')}; Ctrl-C ends it\n`);
  const told = { count: 0, last: following.after };
  try {
    for await (const event of patientEvents(io, settings, session.client, following)) {
      await deal(io, settings, event, target, secret);
      told.count += 1;
      told.last = event.id;
    }
  } catch (error) {
    throw explained(error, specOf('events.list'), undefined);
  } finally {
    const goOn = told.last === undefined ? '' : `; resume with --after ${told.last}`;
    if (!settings.quiet) io.stderr.write(`stopped after ${told.count} events${goOn}\n`);
  }
}

function targetOf(text: string, { headers = [], skipVerify = false }: Flags): Target {
  if (!URL.canParse(text) || !/^https?:$/.test(new URL(text).protocol))
    throw usage(`--forward-to is an address such as http://localhost:3001/hooks, not ${JSON.stringify(text)}`);
  const pairs = headers.map((header) => {
    const [, name, value] = /^([A-Za-z0-9-]+): *([\t\x20-\x7E]*)$/.exec(header) ?? [];
    if (name === undefined || value === undefined) throw usage(`--headers is written name:value, not ${JSON.stringify(header)}`);
    return [name, value] as const;
  });
  return { url: new URL(text), headers: Object.fromEntries(pairs), skipVerify };
}

const usage = (message: string): CommandFailure => new CommandFailure(exitCodes.usage, 'usage', message);

const now = (): string => new Date().toLocaleTimeString('sv');

async function deal(io: Io, settings: Settings, event: MandateEvent, target: Target | undefined, secret: string): Promise<void> {
  const id = `evt_${event.id}`;
  const { format } = settings;
  if (format === 'text') io.stdout.write(`${plainText(`${now()}  → ${event.type}  ${id}`)}\n`);
  const body = JSON.stringify(event);
  const sent = target && (await forward(target, { ...target.headers, ...(await signWebhook(id, body, secret)) }, body, io.interrupted));
  if (format !== 'text') return io.stdout.write(jsonLine(io, settings, { event, forwarded: sent ?? null }));
  if (target && sent)
    io.stdout.write(`${plainText(`${now()}  ← ${outcome(sent)}  POST ${target.url.href}  ${id}  (${sent.milliseconds} ms)`)}\n`);
}

const outcome = ({ status, error }: Forwarded): string => (status === null ? (error ?? 'no answer') : String(status));
