import type { Command } from 'commander';
import { commandErrorFromApiError, buildRequestFromCommandInput, getCommandSpecOfOperation } from '../contract-commands/build-request.ts';
import type { CliEnvironment } from '../environment/cli-environment-type.ts';
import { CommandError } from '../errors/command-error.ts';
import { exitCodes } from '../errors/exit-codes.ts';
import { parseOrderLimitFlags, type OrderLimitFlags } from '../order-limits/parse-order-limit-flags.ts';
import { assertRequestedFieldsKnown, printResult } from '../output/print-result.ts';
import { openProfileSession, requireScopes } from '../sign-in/profile-session.ts';
import { settingsFromFlagsEnvironmentAndProfile, type Settings } from '../settings/resolve-settings.ts';
import { addOrderLimitFlags } from './add-order-limit-flags.ts';
import { addCommandGroup, addCommandWithoutSubcommands, readGlobalFlags } from './global-flags-and-command-groups.ts';

const operationId = 'connectedApps.setLimits';

export function addAppsCommands(program: Command, io: CliEnvironment): void {
  const spec = getCommandSpecOfOperation(operationId);
  const group = addCommandGroup(program, 'apps', 'Limits of connected applications, as decimal amounts');
  const command = addCommandWithoutSubcommands(group, 'limit', spec.summary)
    .description(
      `${spec.summary}.\nReplaces all limits, like \`mandate connected-apps set-limits\`, but with amounts such as 49.99. An amount without a flag is unlimited. \`mandate connected-apps remove-limits\` removes all limits.`,
    )
    .argument('<connected-app-id>', 'ID of the connected application; `mandate connected-apps list` shows the IDs');
  addOrderLimitFlags(command)
    .addHelpText('after', `\nRequires the scope ${spec.scopes.join(' or ')}.`)
    .action(async (id: string) => {
      await limitApp(io, settingsFromFlagsEnvironmentAndProfile(readGlobalFlags(command), io), id, command.opts<OrderLimitFlags>());
    });
}

async function limitApp(io: CliEnvironment, settings: Settings, id: string, flags: OrderLimitFlags): Promise<void> {
  const spec = getCommandSpecOfOperation(operationId);
  const limits = parseOrderLimitFlags(flags, new Date());
  if (!limits) {
    throw new CommandError(exitCodes.usage, 'usage', 'At least one limit is required', {
      hint: `For example: mandate apps limit ${id} --limit-per-order 50 --currency GBP`,
    });
  }
  const request = buildRequestFromCommandInput({ spec, path: [id], typed: new Map(), base: limits });
  assertRequestedFieldsKnown(settings, spec.fields);
  const session = await openProfileSession(io, settings);
  requireScopes(session, spec.scopes);
  try {
    printResult(io, settings, await session.client.request({ ...request, operation: operationId }, { signal: io.interrupted }));
  } catch (error) {
    throw commandErrorFromApiError(error, spec, undefined);
  }
}
