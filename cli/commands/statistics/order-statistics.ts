import { Option, type Command } from 'commander';
import type { OrderStatistics } from '@mandate/client-sdk';
import {
  validateInputAndBuildRequest,
  commandErrorFromCallError,
  getCommandSpecForOperation,
} from '../../contract-commands/build-request-and-convert-api-errors.ts';
import { flagsFromCommandSpec } from '../../contract-commands/flags-from-command-spec.ts';
import type { RawFlagValues } from '../../contract-commands/parse-flag-values.ts';
import type { CliEnvironment } from '../../environment/cli-environment-type.ts';
import { printOrderStatisticsChart, printOrderStatisticsTable } from '../../output/print-order-statistics.ts';
import { assertRequestedFieldsKnown, printResult } from '../../output/print-result.ts';
import { settingsFromFlagsEnvironmentAndProfile, type Settings } from '../../settings/resolve-settings.ts';
import { openProfileSession, assertSignedInWithScopes } from '../../sign-in/profile-session.ts';
import { addOperationFlagsAndCollectValues } from '../add-api-operation-commands.ts';
import {
  addCommandWithoutSubcommands,
  readGlobalFlags,
  getCommandGroupOrThrow,
  setCompletionChoices,
} from '../global-flags-and-command-groups.ts';

type Flags = { readonly by?: string; readonly chart?: boolean };

const spec = getCommandSpecForOperation('stats.orders');
const intervals = ['hour', 'day', 'week', 'month'];

export function addOrderStatisticsCommand(program: Command, io: CliEnvironment): void {
  const command = addCommandWithoutSubcommands(getCommandGroupOrThrow(program, 'stats'), 'orders', spec.summary).description(
    `${spec.summary}.\n${spec.description ?? ''}`,
  );
  const typed = addOperationFlagsAndCollectValues(command, spec);
  command
    .addOption(setCompletionChoices(new Option('--by <interval>', 'short form of --interval'), intervals))
    .option('--chart', 'draw bars and sparklines, or print a plain table if the output is not a terminal')
    .addHelpText('after', `\nRequires the scope ${spec.scopes.join(' or ')}.`)
    .action(async () =>
      showOrderStatistics(io, settingsFromFlagsEnvironmentAndProfile(readGlobalFlags(command), io), typed, command.opts<Flags>()),
    );
}

async function showOrderStatistics(io: CliEnvironment, settings: Settings, typed: RawFlagValues, { by, chart }: Flags): Promise<void> {
  const request = validateInputAndBuildRequest({ spec, path: [], typed: withInterval(typed, by) });
  assertRequestedFieldsKnown(settings, spec.fields);
  const session = await openProfileSession(io, settings);
  assertSignedInWithScopes(session, [...spec.scopes]);
  const body = await session.client
    .request({ ...request, operation: spec.operationId }, { signal: io.interrupted })
    .catch((error: unknown): never => {
      throw commandErrorFromCallError(error, spec, undefined);
    });
  const isText = settings.format === 'text' && settings.get === undefined && settings.jq === undefined && settings.fields === undefined;
  if (!isText) return printResult(io, settings, body);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the contract's response
  const statistics = body as OrderStatistics;
  if (chart && io.stdout.isTTY) printOrderStatisticsChart(io, statistics);
  else printOrderStatisticsTable(io, settings, statistics);
}

function withInterval(typed: RawFlagValues, by: string | undefined): RawFlagValues {
  const flag = [...typed.keys(), ...flagsFromCommandSpec(spec)].find(({ name }) => name === '--interval');
  return by === undefined || !flag ? typed : new Map([...typed, [flag, [by]]]);
}
