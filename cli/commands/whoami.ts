import type { Command } from 'commander';
import type { CliEnvironment } from '../environment/cli-environment-type.ts';
import { readGlobalFlags, addCommandWithoutSubcommands } from './global-flags-and-command-groups.ts';
import { openProfileSession, requireSignIn } from '../sign-in/profile-session.ts';
import { settingsFromFlagsEnvironmentAndProfile, type Settings } from '../settings/resolve-settings.ts';
import { assertRequestedFieldsKnown, printResult } from '../output/print-result.ts';

export function addWhoamiCommand(program: Command, io: CliEnvironment): void {
  const command = addCommandWithoutSubcommands(program, 'whoami', 'Show the signed-in user')
    .description('Show the signed-in user, as currently stored by the service.')
    .option('--offline', 'show the user as stored at sign-in, without sending a request')
    .action(async () =>
      whoami(
        io,
        settingsFromFlagsEnvironmentAndProfile(readGlobalFlags(command), io),
        command.opts<{ offline?: boolean }>().offline ?? false,
      ),
    );
}

async function whoami(io: CliEnvironment, settings: Settings, offline: boolean): Promise<void> {
  const { apiUrl, credential, client, signedIn } = await openProfileSession(io, settings);
  requireSignIn({ signedIn: signedIn && (!offline || credential !== undefined) });
  const user = offline ? credential?.user : await client.users.me({ signal: io.interrupted });
  const shown = {
    id: user?.id ?? null,
    name: user?.name ?? null,
    email: user?.email ?? null,
    profile: settings.profile,
    api_url: apiUrl,
    scopes: credential?.scopes.join(' ') ?? null,
  };
  assertRequestedFieldsKnown(settings, Object.keys(shown));
  printResult(io, settings, shown);
}
