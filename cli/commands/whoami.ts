import type { Command } from 'commander';
import type { Client } from '@mandate/client-sdk';
import type { CliEnvironment } from '../environment/cli-environment-type.ts';
import { readGlobalFlags, addCommandWithoutSubcommands } from './global-flags-and-command-groups.ts';
import { formatRemainingBudget, formatOrderLimits } from '../order-limits/format-order-limits.ts';
import { openProfileSession, assertSignedIn } from '../sign-in/profile-session.ts';
import { settingsFromFlagsEnvironmentAndProfile, type Settings } from '../settings/resolve-settings.ts';
import { assertRequestedFieldsKnown, printResult } from '../output/print-result.ts';

export function addWhoamiCommand(program: Command, io: CliEnvironment): void {
  const command = addCommandWithoutSubcommands(program, 'whoami', 'Show the signed-in user')
    .description('Fetch and show the current details of the signed-in user, including order limits and the remaining budget.')
    .option('--offline', 'show the user as stored at sign-in, without sending a request')
    .action(async () =>
      whoami(
        io,
        settingsFromFlagsEnvironmentAndProfile(readGlobalFlags(command), io),
        command.opts<{ offline?: boolean }>().offline ?? false,
      ),
    );
}

/** Returns the order limits and the remaining budget. In text output, the limits and the budget are described in words. */
async function readLimits(io: CliEnvironment, settings: Settings, client: Client) {
  const result = await client.authorization.get({ signal: io.interrupted }).safe();
  if (!result.ok) return { limits: null, budget: null };
  const {
    authorization_details: [limits = null],
    budget,
  } = result.data;
  if (settings.format !== 'text') return { limits, budget };
  return { limits: limits && formatOrderLimits(limits), budget: budget && formatRemainingBudget(budget) };
}

async function whoami(io: CliEnvironment, settings: Settings, offline: boolean): Promise<void> {
  const { apiUrl, credential, client, signedIn } = await openProfileSession(io, settings);
  assertSignedIn({ signedIn: signedIn && (!offline || credential !== undefined) });
  const user = offline ? credential?.user : await client.users.me({ signal: io.interrupted });
  const { limits, budget } = offline ? { limits: null, budget: null } : await readLimits(io, settings, client);
  const shown = {
    id: user?.id ?? null,
    name: user?.name ?? null,
    email: user?.email ?? null,
    profile: settings.profile,
    api_url: apiUrl,
    scopes: credential?.scopes.join(' ') ?? null,
    limits,
    budget,
  };
  assertRequestedFieldsKnown(settings, Object.keys(shown));
  printResult(io, settings, shown);
}
