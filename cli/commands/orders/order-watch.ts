import { setTimeout as sleep } from 'node:timers/promises';
import { Option, type Command } from 'commander';
import { AbortError, type Client, type Order, type OrderSummary } from '@mandate/client-sdk';
import { waitingTimes, type WaitFlags } from '../../tasks/wait-for-task.ts';
import { CommandFailure } from '../../errors/command-error.ts';
import { explained, requestOf, specOf } from '../../contract-commands/build-request.ts';
import { exitCodes } from '../../errors/exit-codes.ts';
import type { Io } from '../../environment.ts';
import { scopeToReadOrders } from '../../contract-commands/order-scopes.ts';
import { plainText } from '../../terminal/safe-terminal-text.ts';
import { existingGroup, globalFlagsOf, leafCommand, noteChoices } from '../../command-helpers.ts';
import { openSession, requireScopes } from '../../sign-in/session.ts';
import { settingsOf, type Settings } from '../../settings/settings.ts';
import { jsonLine } from '../../output/print-result.ts';

type Flags = WaitFlags & { readonly until?: string };
type Seen = Pick<OrderSummary, 'id' | 'status' | 'payment_status' | 'version'>;
type Watched = { readonly isList: boolean; readonly look: () => Promise<readonly (Order | OrderSummary)[]> };

/** In the order they come; canceled can come at any time before shipped. */
const way: readonly string[] = ['pending', 'paid', 'shipped', 'delivered'];
const firstIntervalMs = 2_000;
const lastIntervalMs = 15_000;
const listed = 100;

export function addOrderWatch(program: Command, io: Io): void {
  const command = leafCommand(existingGroup(program, 'orders'), 'watch', 'Watch what becomes of orders')
    .description(`Watch what becomes of an order, or of the ${listed} newest ones: a line for each change, until you press Ctrl-C.`)
    .argument('[order-id]', 'identifier of the order')
    .addOption(
      noteChoices(
        new Option(
          '--until <status>',
          'end when the order is paid, shipped, delivered or canceled; exit code 12 says that it cannot be any more',
        ),
        ['paid', 'shipped', 'delivered', 'canceled'],
      ),
    )
    .option('--max-wait <duration>', 'end after this time: 10m; with --until, exit code 13')
    .option('--interval <duration>', 'look so often, in place of 2s that grow to 15s while nothing happens')
    .addHelpText('after', '\nNeeds the scope orders.read.')
    .action(async (id: string | undefined) => watch(io, settingsOf(globalFlagsOf(command), io), id, command.opts<Flags>()));
}

async function watch(io: Io, settings: Settings, id: string | undefined, flags: Flags): Promise<void> {
  const { until } = flags;
  if (until !== undefined && ![...way.slice(1), 'canceled'].includes(until)) throw usage(`--until is paid, shipped, delivered or canceled`);
  if (until !== undefined && id === undefined) throw usage('--until needs an order to watch');
  const spec = specOf(id === undefined ? 'orders.list' : 'orders.get');
  requestOf({ spec, path: id === undefined ? [] : [id], typed: new Map() });
  waitingTimes(flags);
  const session = await openSession(io, settings);
  requireScopes(session, [scopeToReadOrders(session)]);
  const told = { changes: 0 };
  try {
    await observe(io, settings, watched(session.client, id, io.interrupted), flags, told);
  } catch (error) {
    // Whoever waits for something has not got it; whoever only watches has seen enough.
    if (error instanceof AbortError && until === undefined) {
      if (!settings.quiet) io.stderr.write(`Stopped after ${told.changes} ${told.changes === 1 ? 'line' : 'lines'}.\n`);
      return;
    }
    throw explained(error, spec, undefined);
  }
}

const usage = (message: string): CommandFailure => new CommandFailure(exitCodes.usage, 'usage', message);

function watched(client: Client, id: string | undefined, signal: AbortSignal): Watched {
  if (id === undefined)
    return { isList: true, look: async () => (await client.orders.list({ limit: listed }, { signal })).data.toReversed() };
  let etag = '""';
  const look = async (): Promise<readonly Order[]> => {
    const { data, headers } = await client.orders.get(id, { signal, ifNoneMatch: etag }).withResponse();
    etag = headers.get('etag') ?? etag;
    return data ? [data] : [];
  };
  return { isList: false, look };
}

async function observe(io: Io, settings: Settings, { isList, look }: Watched, flags: Flags, told: { changes: number }): Promise<void> {
  const { maxWaitMs = Infinity, intervalMs } = waitingTimes(flags);
  const deadline = Date.now() + maxWaitMs;
  const seen = new Map<number, Seen>();
  let [restMs, begun] = [intervalMs ?? firstIntervalMs, false];
  for (;;) {
    const orders = await look();
    const news = orders.filter((order) => seen.get(order.id)?.version !== order.version);
    for (const order of news) {
      // Of a list, what is there at first is no news.
      if (begun || !isList) {
        tell(io, settings, order, seen.get(order.id));
        told.changes += 1;
      }
      seen.set(order.id, order);
      if (flags.until !== undefined && hasReached(order, flags.until)) return;
    }
    begun = true;
    const leftMs = deadline - Date.now();
    if (leftMs <= 0 && flags.until === undefined) return;
    if (leftMs <= 0)
      throw new CommandFailure(exitCodes.waitOver, 'wait_over', `The order is not ${flags.until} after ${maxWaitMs / 1000} s`);
    restMs = intervalMs ?? (news.length > 0 ? firstIntervalMs : Math.min(lastIntervalMs, restMs * 1.5));
    await sleep(Math.min(restMs, leftMs), undefined, { signal: io.interrupted }).catch(() => undefined);
  }
}

/** Further on is reached, too: an order may be shipped before anybody looks. */
function hasReached({ id, status }: Seen, until: string): boolean {
  if (status === until || (status !== 'canceled' && until !== 'canceled' && way.indexOf(status) > way.indexOf(until))) return true;
  if (status !== 'canceled' && status !== 'delivered') return false;
  throw new CommandFailure(exitCodes.workFailed, `order_${status}`, `Order ${id} is ${status}, and will not be ${until} any more`);
}

function tell(io: Io, settings: Settings, order: Order | OrderSummary, before: Seen | undefined): void {
  const { stdout } = io;
  if (settings.format !== 'text') return stdout.write(jsonLine(io, settings, order));
  const changes = (['status', 'payment_status'] as const).flatMap((name) => {
    const [from, to] = [before?.[name], order[name]];
    return from === to ? [] : [from === undefined ? to : `${from} → ${to}`];
  });
  const time = new Date().toLocaleTimeString('sv');
  stdout.write(`${plainText(`${time}  ${order.id}  ${changes.join(', ') || 'changed'}`)}\n`);
}
