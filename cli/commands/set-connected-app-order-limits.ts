import type { Command } from 'commander';
import {
  commandErrorFromCallError,
  validateInputAndBuildRequest,
  getCommandSpecForOperation,
} from '../contract-commands/build-request-and-convert-api-errors.ts';
import type { CliEnvironment } from '../environment/cli-environment-type.ts';
import { CommandError } from '../errors/command-error.ts';
import { exitCodes } from '../errors/exit-codes.ts';
import { mergeOrderLimits } from '../order-limits/merge-order-limits.ts';
import { hasAmountFlag, hasOrderLimitFlag, parseOrderLimitFlags, type OrderLimitFlags } from '../order-limits/parse-order-limit-flags.ts';
import { assertRequestedFieldsKnown, printResult } from '../output/print-result.ts';
import type { CommandSpec } from '../schema/command-spec-type.ts';
import { openProfileSession, assertSignedInWithScopes } from '../sign-in/profile-session.ts';
import { settingsFromFlagsEnvironmentAndProfile, type Settings } from '../settings/resolve-settings.ts';
import { addOrderLimitFlags } from './add-order-limit-flags.ts';
import { addCommandGroup, addCommandWithoutSubcommands, readGlobalFlags } from './global-flags-and-command-groups.ts';

const operationId = 'connectedApps.setLimits';
const readOperationId = 'connectedApps.getLimits';

export function addSetConnectedAppOrderLimitsCommand(program: Command, io: CliEnvironment): void {
  const spec = getCommandSpecForOperation(operationId);
  const group = addCommandGroup(program, 'apps', 'Set order limits for connected applications, in decimal amounts');
  const command = addCommandWithoutSubcommands(group, 'limit', spec.summary)
    .description(
      `${spec.summary}.\nChanges only the limits for which you specify a flag. Amounts can be decimal, such as 49.99. A budget for a different period replaces the current budget. The default currency is the currency of the current limits. To remove a single limit, replace all limits with \`mandate connected-apps set-limits\`. To remove all limits, use \`mandate connected-apps remove-limits\`.`,
    )
    .argument('<connected-app-id>', 'ID of the connected application; `mandate connected-apps list` shows the IDs');
  const scopes = [getCommandSpecForOperation(readOperationId), spec].map((each) => each.scopes.join(' or '));
  addOrderLimitFlags(command)
    .addHelpText('after', `\nRequires the scopes ${scopes.join(' and ')}.`)
    .action(async (id: string) => {
      await limitApp(io, settingsFromFlagsEnvironmentAndProfile(readGlobalFlags(command), io), id, command.opts<OrderLimitFlags>());
    });
}

async function limitApp(io: CliEnvironment, settings: Settings, id: string, flags: OrderLimitFlags): Promise<void> {
  const spec = getCommandSpecForOperation(operationId);
  const readSpec = getCommandSpecForOperation(readOperationId);
  if (!hasOrderLimitFlag(flags)) {
    throw new CommandError(exitCodes.usage, 'usage', 'At least one limit is required', {
      hint: `For example: mandate apps limit ${id} --limit-per-order 50 --currency GBP`,
    });
  }
  // Amounts without a currency are in the currency of the current limits, so they are parsed after these limits have been read.
  const parsed = hasAmountFlag(flags) && flags.currency === undefined ? undefined : parseOrderLimitFlags(flags, new Date());
  assertRequestedFieldsKnown(settings, spec.fields);
  const session = await openProfileSession(io, settings);
  assertSignedInWithScopes(session, readSpec.scopes);
  assertSignedInWithScopes(session, spec.scopes);
  validateInputAndBuildRequest({ spec: readSpec, path: [id], typed: new Map() }); // rejects an invalid ID
  const signal = io.interrupted;
  const {
    customer_limits: [current],
  } = await explainApiErrors(readSpec, session.client.connectedApps.getLimits(id, { signal }));
  const currency = flags.currency ?? current?.limits?.currency;
  const changed = parsed ?? parseOrderLimitFlags({ ...flags, ...(currency !== undefined && { currency }) }, new Date());
  const base = mergeOrderLimits(current, changed ?? {});
  const request = validateInputAndBuildRequest({ spec, path: [id], typed: new Map(), base });
  printResult(io, settings, await explainApiErrors(spec, session.client.request({ ...request, operation: operationId }, { signal })));
}

/** Awaits a request. If the API returns an error, adds hints for the operation to the error. */
async function explainApiErrors<Result>(spec: CommandSpec, request: Promise<Result>): Promise<Result> {
  try {
    return await request;
  } catch (error) {
    throw commandErrorFromCallError(error, spec, undefined);
  }
}
