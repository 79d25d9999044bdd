import { randomUUID } from 'node:crypto';
import type { Command } from 'commander';
import type { OrderExportCreate, Task } from '@mandate/client-sdk';
import { awaitTask, requireSuccess, waitingTimes, type WaitFlags } from '../../tasks/wait-for-task.ts';
import { CommandFailure } from '../../errors/command-error.ts';
import { explained, requestOf, specOf } from '../../contract-commands/build-request.ts';
import { exitCodes } from '../../errors/exit-codes.ts';
import type { Io } from '../../environment.ts';
import { scopeToReadOrders } from '../../contract-commands/order-scopes.ts';
import { plainText } from '../../terminal/safe-terminal-text.ts';
import { existingGroup, globalFlagsOf, leafCommand } from '../../command-helpers.ts';
import { sizeOf } from '../../terminal/progress-bar.ts';
import type { Typed } from '../../contract-commands/parse-flags.ts';
import { refuseOverwriting, saveFile, type Target } from '../../files/download-to-file.ts';
import { openSession, requireScopes, type Session } from '../../sign-in/session.ts';
import { settingsOf, type Settings } from '../../settings/settings.ts';
import { checkFields, showResult } from '../../output/print-result.ts';
import { addContractFlags } from '../contract-commands.ts';
import { addWaitFlags } from '../tasks/task-wait.ts';

type Flags = WaitFlags & { readonly output?: string; readonly yes?: boolean; readonly wait: boolean; readonly idempotencyKey?: string };

const spec = specOf('orderExports.create');

export function addOrderExport(program: Command, io: Io): void {
  const command = leafCommand(existingGroup(program, 'orders'), 'export', 'Export orders to a file').description(
    `Export orders to a file. The file appears only when it is complete. In a pipe, the export is written to standard output.\n${spec.description ?? ''}`,
  );
  const typed = addContractFlags(command, spec);
  addWaitFlags(command)
    .option('-o, --output <file>', 'path of the file; - writes to standard output')
    .option('--no-wait', 'start the export, print its task and exit')
    .option('-y, --yes', 'overwrite an existing file')
    .addHelpText('after', '\nRequires the scopes orders.read, tasks.read and tasks.write.')
    .action(async () => exportOrders(io, settingsOf(globalFlagsOf(command), io), typed, command.opts<Flags>()));
}

async function exportOrders(io: Io, settings: Settings, typed: Typed, flags: Flags): Promise<void> {
  const { body } = requestOf({ spec, path: [], typed });
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- checked by the contract's schema
  const input = body as OrderExportCreate;
  checkFields(settings, spec.fields);
  waitingTimes(flags);
  const target: Target = { path: flags.output ?? defaultPath(io, input), overwrite: flags.yes ?? false };
  if (flags.wait && target.path === '-' && (settings.format !== 'text' || settings.get !== undefined)) {
    throw new CommandFailure(exitCodes.usage, 'usage', 'Standard output cannot receive both the file and the task', {
      hint: 'Write the file to a path: -o orders.csv',
    });
  }
  if (flags.wait) refuseOverwriting(target);
  const session = await openSession(io, settings);
  requireScopes(session, [scopeToReadOrders(session), 'tasks.read', 'tasks.write']);
  const idempotencyKey = flags.idempotencyKey ?? randomUUID();
  try {
    const started = await session.client.orderExports.create(input, { signal: io.interrupted, idempotencyKey });
    if (!flags.wait) return printStartedExport(io, settings, started);
    const task = await awaitTask(io, settings, session.client, started.id, flags);
    await saveExport(io, settings, session, task, target);
  } catch (error) {
    throw explained(error, spec, idempotencyKey);
  }
}

function printStartedExport(io: Io, settings: Settings, task: Task): void {
  showResult(io, settings, task);
  if (!settings.quiet) io.stderr.write(`Get the file with: mandate tasks wait ${task.id} && mandate tasks result ${task.id} -o <file>\n`);
}

async function saveExport(io: Io, settings: Settings, { client }: Session, task: Task, target: Target): Promise<void> {
  requireSuccess(task);
  await saveFile(io, await client.tasks.result(task.id, { signal: io.interrupted }), target, task.result?.sha256);
  if (settings.format !== 'text' || settings.get !== undefined) showResult(io, settings, task);
  if (settings.quiet || target.path === '-' || !task.result) return;
  io.stderr.write(`${plainText(`${target.path}: ${task.result.rows} rows, ${sizeOf(task.result.bytes)}`)}\n`);
}

const defaultPath = ({ stdout }: Io, { format = 'csv' }: Partial<OrderExportCreate>): string =>
  stdout.isTTY ? `orders-${new Date().toISOString().slice(0, 10)}.${format}` : '-';
