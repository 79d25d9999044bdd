import { setTimeout as sleep } from 'node:timers/promises';
import { Option, type Command } from 'commander';
import { AbortError, type Client, type Order, type OrderSummary } from '@mandate/client-sdk';
import { parseWaitFlags, type WaitFlags } from '../../tasks/wait-for-task-and-show-progress.ts';
import { CommandError } from '../../errors/command-error.ts';
import {
  commandErrorFromCallError,
  validateInputAndBuildRequest,
  getCommandSpecForOperation,
} from '../../contract-commands/build-request-and-convert-api-errors.ts';
import { exitCodes } from '../../errors/exit-codes.ts';
import type { CliEnvironment } from '../../environment/cli-environment-type.ts';
import { chooseOrderReadScope } from '../../sign-in/choose-order-read-scope.ts';
import { sanitizeForTerminal } from '../../terminal/sanitize-and-measure-terminal-text.ts';
import {
  getCommandGroupOrThrow,
  readGlobalFlags,
  addCommandWithoutSubcommands,
  setCompletionChoices,
} from '../global-flags-and-command-groups.ts';
import { openProfileSession, assertSignedInWithScopes } from '../../sign-in/profile-session.ts';
import { settingsFromFlagsEnvironmentAndProfile, type Settings } from '../../settings/resolve-settings.ts';
import { formatJsonLineOrJqResults } from '../../output/print-result.ts';

type Flags = WaitFlags & { readonly until?: string };
type SeenOrder = Pick<OrderSummary, 'id' | 'status' | 'payment_status' | 'version'>;
type OrderSource = { readonly isList: boolean; readonly fetchOrders: () => Promise<readonly (Order | OrderSummary)[]> };

/** Order statuses in sequence. An order can be canceled at any time before it is shipped. */
const statusSequence: readonly string[] = ['pending', 'paid', 'shipped', 'delivered'];
const firstIntervalMs = 2_000;
const maxIntervalMs = 15_000;
const listLimit = 100;

export function addOrdersWatchCommand(program: Command, io: CliEnvironment): void {
  const command = addCommandWithoutSubcommands(getCommandGroupOrThrow(program, 'orders'), 'watch', 'Print order status changes')
    .description(`Print one line for each status change of an order, or of the ${listLimit} newest orders, until you press Ctrl-C.`)
    .argument('[order-id]', 'ID of the order')
    .addOption(
      setCompletionChoices(
        new Option(
          '--until <status>',
          'wait until the order is paid, shipped, delivered or canceled; exit with code 12 if the order can no longer reach that status',
        ),
        ['paid', 'shipped', 'delivered', 'canceled'],
      ),
    )
    .option('--max-wait <duration>', 'maximum time to wait, such as 10m; exit when it elapses (with code 13 if --until is set)')
    .option('--interval <duration>', 'polling interval (default: 2s, increasing to 15s while nothing changes)')
    .addHelpText('after', '\nRequires the scope orders.read.')
    .action(async (id: string | undefined) =>
      watch(io, settingsFromFlagsEnvironmentAndProfile(readGlobalFlags(command), io), id, command.opts<Flags>()),
    );
}

async function watch(io: CliEnvironment, settings: Settings, id: string | undefined, flags: Flags): Promise<void> {
  const { until } = flags;
  if (until !== undefined && ![...statusSequence.slice(1), 'canceled'].includes(until))
    throw usageError(`--until must be paid, shipped, delivered or canceled`);
  if (until !== undefined && id === undefined) throw usageError('--until requires an order ID');
  const spec = getCommandSpecForOperation(id === undefined ? 'orders.list' : 'orders.get');
  validateInputAndBuildRequest({ spec, path: id === undefined ? [] : [id], typed: new Map() });
  parseWaitFlags(flags);
  const session = await openProfileSession(io, settings);
  assertSignedInWithScopes(session, [chooseOrderReadScope(session)]);
  const printed = { changes: 0 };
  try {
    await watchOrders(io, settings, createOrderSource(session.client, id, io.interrupted), flags, printed);
  } catch (error) {
    // With --until, an interrupt is an error, because the order has not reached the requested status. Without --until, Ctrl-C is the normal
    // way to stop.
    if (error instanceof AbortError && until === undefined) {
      if (!settings.quiet) io.stderr.write(`Stopped after ${printed.changes} ${printed.changes === 1 ? 'line' : 'lines'}.\n`);
      return;
    }
    throw commandErrorFromCallError(error, spec, undefined);
  }
}

const usageError = (message: string): CommandError => new CommandError(exitCodes.usage, 'usage', message);

function createOrderSource(client: Client, id: string | undefined, signal: AbortSignal): OrderSource {
  if (id === undefined)
    return { isList: true, fetchOrders: async () => (await client.orders.list({ limit: listLimit }, { signal })).data.toReversed() };
  let etag = '""';
  const fetchOrders = async (): Promise<readonly Order[]> => {
    const { data, headers } = await client.orders.get(id, { signal, ifNoneMatch: etag }).withResponse();
    etag = headers.get('etag') ?? etag;
    return data ? [data] : [];
  };
  return { isList: false, fetchOrders };
}

async function watchOrders(
  io: CliEnvironment,
  settings: Settings,
  { isList, fetchOrders }: OrderSource,
  flags: Flags,
  printed: { changes: number },
): Promise<void> {
  const { maxWaitMs = Infinity, intervalMs } = parseWaitFlags(flags);
  const deadline = Date.now() + maxWaitMs;
  const seen = new Map<number, SeenOrder>();
  let [waitMs, isFirst] = [intervalMs ?? firstIntervalMs, true];
  for (;;) {
    const orders = await fetchOrders();
    const changed = orders.filter((order) => seen.get(order.id)?.version !== order.version);
    for (const order of changed) {
      // The first list response is the baseline for later comparisons, so its orders are not printed as changes.
      if (!isFirst || !isList) {
        printChange(io, settings, order, seen.get(order.id));
        printed.changes += 1;
      }
      seen.set(order.id, order);
      if (flags.until !== undefined && hasReached(order, flags.until)) return;
    }
    isFirst = false;
    const leftMs = deadline - Date.now();
    if (leftMs <= 0 && flags.until === undefined) return;
    if (leftMs <= 0)
      throw new CommandError(exitCodes.waitTimeout, 'wait_timeout', `The order was not ${flags.until} within ${maxWaitMs / 1000} s`);
    waitMs = intervalMs ?? (changed.length > 0 ? firstIntervalMs : Math.min(maxIntervalMs, waitMs * 1.5));
    await sleep(Math.min(waitMs, leftMs), undefined, { signal: io.interrupted }).catch(() => undefined);
  }
}

/** Returns whether the order has reached the status or a later status. Throws if the order can no longer reach the status. */
function hasReached({ id, status }: SeenOrder, until: string): boolean {
  if (status === until || (status !== 'canceled' && until !== 'canceled' && statusSequence.indexOf(status) > statusSequence.indexOf(until)))
    return true;
  if (status !== 'canceled' && status !== 'delivered') return false;
  throw new CommandError(exitCodes.otherOutcome, `order_${status}`, `Order ${id} is ${status} and can no longer become ${until}`);
}

function printChange(io: CliEnvironment, settings: Settings, order: Order | OrderSummary, before: SeenOrder | undefined): void {
  const { stdout } = io;
  if (settings.format !== 'text') return stdout.write(formatJsonLineOrJqResults(io, settings, order));
  const changes = (['status', 'payment_status'] as const).flatMap((name) => {
    const [from, to] = [before?.[name], order[name]];
    return from === to ? [] : [from === undefined ? to : `${from} → ${to}`];
  });
  const time = new Date().toLocaleTimeString('sv');
  stdout.write(`${sanitizeForTerminal(`${time}  ${order.id}  ${changes.join(', ') || 'changed'}`)}\n`);
}
