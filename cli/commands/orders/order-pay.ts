import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { Option, type Command } from 'commander';
import { ApiError, type Client, type Payment } from '@mandate/client-sdk';
import { parseWaitFlags, type WaitFlags } from '../../tasks/wait-for-task-and-show-progress.ts';
import { CommandError } from '../../errors/command-error.ts';
import { requireConfirmation } from '../../contract-commands/require-confirmation.ts';
import {
  commandErrorFromCallError,
  validateInputAndBuildRequest,
  getCommandSpecForOperation,
} from '../../contract-commands/build-request-and-convert-api-errors.ts';
import { exitCodes } from '../../errors/exit-codes.ts';
import { flagsFromCommandSpec } from '../../contract-commands/flags-from-command-spec.ts';
import type { CliEnvironment } from '../../environment/cli-environment-type.ts';
import { formatSuggestedCommandForSameProfile, printSuggestedNextCommand } from '../../output/suggested-next-commands.ts';
import { sanitizeForTerminal } from '../../terminal/sanitize-and-measure-terminal-text.ts';
import {
  getCommandGroupOrThrow,
  readGlobalFlags,
  addCommandWithoutSubcommands,
  setCompletionChoices,
} from '../global-flags-and-command-groups.ts';
import { createProgressBar } from '../../terminal/progress-bar.ts';
import { fetchAndDescribeOrder } from '../../contract-commands/confirmation-questions.ts';
import { openProfileSession, assertSignedIn } from '../../sign-in/profile-session.ts';
import { settingsFromFlagsEnvironmentAndProfile, type Settings } from '../../settings/resolve-settings.ts';
import { assertRequestedFieldsKnown, printResult } from '../../output/print-result.ts';

type Flags = WaitFlags & {
  readonly provider?: string;
  readonly methodToken?: string;
  readonly returnUrl?: string;
  readonly wait?: boolean;
  readonly yes?: boolean;
  readonly idempotencyKey?: string;
};

const spec = getCommandSpecForOperation('payments.create');
const defaultIntervalMs = 2_000;

/** The default payment uses the test provider. The payment succeeds only if the service has enabled this provider. */
const testPayment = { provider: 'test', methodToken: 'test_ok' } as const;

const flagDescription = (name: string): string => spec.body?.properties?.[name]?.description?.replace(/\.$/, '') ?? '';

export function addOrdersPayCommand(program: Command, io: CliEnvironment): void {
  const command = addCommandWithoutSubcommands(getCommandGroupOrThrow(program, 'orders'), 'pay', 'Pay for an order')
    .description(`Pay for an order. The default provider is test, which moves no money and must be enabled by the service.
${spec.description ?? ''}`)
    .argument('<order-id>', 'ID of the order')
    .addOption(
      setCompletionChoices(new Option('--provider <name>', `${flagDescription('provider')} (default: test)`), ['manual', 'test', 'stripe']),
    )
    .option('--method-token <token>', `${flagDescription('method_token')} (default without --provider: ${testPayment.methodToken})`)
    .option('--return-url <url>', flagDescription('return_url'))
    .option('--wait', 'wait until the payment succeeds; exit with code 12 if it fails')
    .option('--max-wait <duration>', 'maximum time to wait with --wait, such as 10m; exit with code 13 when it elapses')
    .option('--interval <duration>', 'polling interval with --wait (default: 2s)')
    .option('--idempotency-key <key>', 'key that makes retries safe: a payment with this key is made at most once')
    .option('-y, --yes', 'skip the confirmation prompt')
    .addHelpText('after', '\nRequires the scope payments.write, and payments.read with --wait.')
    .action(async (id: string) => pay(io, settingsFromFlagsEnvironmentAndProfile(readGlobalFlags(command), io), id, command.opts<Flags>()));
}

async function pay(io: CliEnvironment, settings: Settings, id: string, flags: Flags): Promise<void> {
  const provider = flags.provider ?? testPayment.provider;
  const methodToken = flags.methodToken ?? (flags.provider === undefined ? testPayment.methodToken : undefined);
  const values = { provider, method_token: methodToken, return_url: flags.returnUrl };
  const typed = new Map(
    flagsFromCommandSpec(spec).flatMap((flag) =>
      Object.entries(values).flatMap(([name, text]) => (flag.path[0] === name && text !== undefined ? [[flag, [text]] as const] : [])),
    ),
  );
  const request = validateInputAndBuildRequest({ spec, path: [id], typed });
  assertRequestedFieldsKnown(settings, spec.fields);
  parseWaitFlags(flags);
  const session = await openProfileSession(io, settings);
  assertSignedIn(session);
  const { client } = session;
  const note = provider === 'test' ? ' with the test provider (no money is moved)' : '';
  await requireConfirmation(io, settings, async () => `Pay ${await fetchAndDescribeOrder(client, id)}${note}?`, flags.yes ?? false);
  const idempotencyKey = flags.idempotencyKey ?? randomUUID();
  try {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the contract defines the response of this path
    const started = (await client.request(request, { signal: io.interrupted, idempotencyKey })) as Payment;
    printNextAction(io, started);
    const payment = flags.wait ? await waitForPayment(io, settings, client, started, flags) : started;
    printResult(io, settings, payment);
    printSuggestedNextCommand(io, settings, spec.operationId, payment);
    assertNotFailed(payment);
  } catch (error) {
    const providers = flags.provider === undefined ? enabledProviders(error) : undefined;
    throw providers ? noTestProviderError(settings, id, providers) : commandErrorFromCallError(error, spec, idempotencyKey);
  }
}

/** Returns the enabled providers if the service rejected the payment because the test provider is not enabled. */
const enabledProviders = (error: unknown): readonly string[] | undefined =>
  error instanceof ApiError ? error.errors.find(({ pointer }) => pointer === '#/provider')?.allowed?.map(String) : undefined;

function noTestProviderError(settings: Settings, id: string, providers: readonly string[]): CommandError {
  const commands = providers.map((name) => {
    const command = `orders pay ${id} --provider ${name}`;
    return formatSuggestedCommandForSameProfile(settings, name === 'manual' ? command : `${command} --method-token <token>`);
  });
  return new CommandError(exitCodes.inputRejected, 'provider_required', 'This service has no test provider, so no payment was made', {
    hint: `Choose how to pay: ${commands.join(', or ')}`,
  });
}

function printNextAction({ stderr }: CliEnvironment, { next_action: action }: Payment): void {
  if (action?.url) stderr.write(`Continue the payment at this URL:\n${sanitizeForTerminal(action.url)}\n`);
}

const isOpen = ({ status }: Payment): boolean => ['pending', 'requires_action', 'processing'].includes(status);

async function waitForPayment(io: CliEnvironment, settings: Settings, client: Client, started: Payment, flags: Flags): Promise<Payment> {
  const { maxWaitMs = Infinity, intervalMs = defaultIntervalMs } = parseWaitFlags(flags);
  const progress = createProgressBar(io, settings);
  const deadline = Date.now() + maxWaitMs;
  let payment = started;
  try {
    for (;;) {
      progress.show({ label: `payment ${payment.id}`, amount: '', state: payment.status });
      if (!isOpen(payment)) return payment;
      const leftMs = deadline - Date.now();
      if (leftMs <= 0) throw new CommandError(exitCodes.waitTimeout, 'wait_timeout', `Payment ${payment.id} is still ${payment.status}`);
      await sleep(Math.min(intervalMs, leftMs), undefined, { signal: io.interrupted }).catch(() => undefined);
      payment = await client.payments.get(payment.id, { signal: io.interrupted });
    }
  } finally {
    progress.end();
  }
}

function assertNotFailed({ id, status, failure_code: code, failure_message: message }: Payment): void {
  if (status !== 'failed' && status !== 'canceled') return;
  throw new CommandError(exitCodes.otherOutcome, code ?? `payment_${status}`, message ?? `Payment ${id} has the status ${status}`);
}
