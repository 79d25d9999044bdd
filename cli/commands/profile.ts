import type { Command } from 'commander';
import { CommandError } from '../errors/command-error.ts';
import {
  profileSettingDefinitions,
  isValidProfileName,
  readConfigFile,
  copyConfigWithProfileReplacedOrRemoved,
  writeConfigFile,
} from '../settings/config-file.ts';
import { requireConfirmation } from '../contract-commands/require-confirmation.ts';
import { createCredentialStore } from '../sign-in/credential-store.ts';
import { exitCodes } from '../errors/exit-codes.ts';
import type { CliEnvironment } from '../environment/cli-environment-type.ts';
import { readGlobalFlags, addCommandGroup, addCommandWithoutSubcommands } from './global-flags-and-command-groups.ts';
import { normalizeAndCheckApiUrl } from '../sign-in/profile-session.ts';
import { settingsFromFlagsEnvironmentAndProfile, type Settings } from '../settings/resolve-settings.ts';
import { assertRequestedFieldsKnown, printResult } from '../output/print-result.ts';
import { signOutProfiles } from './logout.ts';

const columns = ['name', 'active', 'api_url', 'user', 'signed_in'];

export function addProfileCommands(program: Command, io: CliEnvironment): void {
  const group = addCommandGroup(program, 'profile', 'Manage profiles for different services or accounts');
  const list = addCommandWithoutSubcommands(group, 'list', 'List every profile').action(async () => {
    const settings = settingsFromFlagsEnvironmentAndProfile(readGlobalFlags(list), io);
    assertRequestedFieldsKnown(settings, columns);
    printResult(io, settings, { data: await listProfiles(settings) }, columns);
  });
  const show = addCommandWithoutSubcommands(group, 'show', 'Show the settings of a profile')
    .argument('[name]', 'name of the profile (default: the active profile)')
    .action(async (name: string | undefined) => {
      const settings = settingsFromFlagsEnvironmentAndProfile(readGlobalFlags(show), io);
      const known = await requireProfile(settings, name ?? settings.profile);
      const shown = { ...known, ...readConfigFile(settings.directory).profiles[known.name], api_url: known.api_url };
      assertRequestedFieldsKnown(settings, [...columns, ...Object.keys(profileSettingDefinitions)]);
      printResult(io, settings, shown);
    });
  const create = addCommandWithoutSubcommands(group, 'create', 'Create a profile')
    .argument('<name>', 'profile name; it can contain letters, digits, ".", "_" and "-"')
    .option('--issuer <url>', 'URL of the authorization server, if it differs from the service URL')
    .addHelpText('after', '\nThe URL of the service is required: --api-url <url>.')
    .action(async (name: string) => {
      const globalFlags = readGlobalFlags(create);
      await createProfile(
        io,
        settingsFromFlagsEnvironmentAndProfile(globalFlags, io),
        name,
        globalFlags.apiUrl,
        create.opts<{ issuer?: string }>().issuer,
      );
    });
  const use = addCommandWithoutSubcommands(group, 'use', 'Set the active profile')
    .argument('<name>', 'name of the profile')
    .action(async (name: string) => {
      const settings = settingsFromFlagsEnvironmentAndProfile(readGlobalFlags(use), io);
      await requireProfile(settings, name);
      await writeConfigFile(settings.directory, { ...readConfigFile(settings.directory), active: name });
      if (!settings.quiet) io.stderr.write(`Profile ${name} is now active.\n`);
    });
  const remove = addCommandWithoutSubcommands(group, 'delete', 'Delete a profile and sign out of it')
    .argument('<name>', 'name of the profile')
    .option('-y, --yes', 'skip the confirmation prompt')
    .action(async (name: string) =>
      deleteProfile(
        io,
        settingsFromFlagsEnvironmentAndProfile(readGlobalFlags(remove), io),
        name,
        remove.opts<{ yes?: boolean }>().yes ?? false,
      ),
    );
}

async function listProfiles(settings: Settings) {
  const credentials = await createCredentialStore(settings.directory).readAll();
  const { profiles } = readConfigFile(settings.directory);
  const names = [...new Set([...Object.keys(profiles), ...Object.keys(credentials)])].toSorted();
  return names.map((name) => ({
    name,
    active: name === settings.profile,
    api_url: profiles[name]?.['api_url'] ?? credentials[name]?.apiUrl ?? null,
    user: credentials[name]?.user?.email ?? null,
    signed_in: credentials[name] !== undefined,
  }));
}

async function requireProfile(settings: Settings, name: string) {
  const profiles = await listProfiles(settings);
  const found = profiles.find((profile) => profile.name === name);
  if (found) return found;
  throw new CommandError(exitCodes.usage, 'no_profile', `Unknown profile: ${name}`, {
    hint:
      profiles.length > 0
        ? `Available profiles: ${profiles.map((profile) => profile.name).join(', ')}`
        : `Create it with: mandate profile create ${name} --api-url <url>`,
  });
}

const usageError = (message: string): CommandError => new CommandError(exitCodes.usage, 'usage', message);

async function createProfile(
  io: CliEnvironment,
  settings: Settings,
  name: string,
  apiUrl: string | undefined,
  issuer: string | undefined,
): Promise<void> {
  if (!isValidProfileName(name)) throw usageError(`Invalid profile name ${JSON.stringify(name)}: use letters, digits, ".", "_" and "-"`);
  if (apiUrl === undefined) throw usageError('The URL of the service is required: --api-url <url>');
  const config = readConfigFile(settings.directory);
  if (config.profiles[name]) throw usageError(`Profile ${name} already exists`);
  const profile = {
    api_url: normalizeAndCheckApiUrl(io, apiUrl),
    ...(issuer !== undefined && { issuer: normalizeAndCheckApiUrl(io, issuer) }),
  };
  await writeConfigFile(settings.directory, copyConfigWithProfileReplacedOrRemoved(config, name, profile));
  if (!settings.quiet) io.stderr.write(`Profile ${name} created. Sign in with: mandate login --profile ${name}\n`);
}

async function deleteProfile(io: CliEnvironment, settings: Settings, name: string, yes: boolean): Promise<void> {
  const { signed_in: signedIn } = await requireProfile(settings, name);
  await requireConfirmation(io, settings, () => `Delete profile ${name}${signedIn ? ' and sign out of it' : ''}?`, yes);
  await writeConfigFile(settings.directory, copyConfigWithProfileReplacedOrRemoved(readConfigFile(settings.directory), name, undefined));
  if (signedIn) await signOutProfiles(io, settings, [name]);
  if (!settings.quiet) io.stderr.write(`Profile ${name} deleted.\n`);
}
