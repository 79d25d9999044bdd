import type { Command } from 'commander';
import { CommandFailure } from '../errors/command-error.ts';
import { configKeys, isProfileName, readConfig, withProfile, writeConfig } from '../settings/config-file.ts';
import { confirmed } from '../contract-commands/confirm.ts';
import { credentialStore } from '../sign-in/credential-store.ts';
import { exitCodes } from '../errors/exit-codes.ts';
import type { Io } from '../environment.ts';
import { globalFlagsOf, groupCommand, leafCommand } from '../command-helpers.ts';
import { checkedApiUrl } from '../sign-in/session.ts';
import { settingsOf, type Settings } from '../settings/settings.ts';
import { checkFields, showResult } from '../output/print-result.ts';
import { signOut } from './logout.ts';

const columns = ['name', 'active', 'api_url', 'user', 'signed_in'];

export function addProfile(program: Command, io: Io): void {
  const group = groupCommand(program, 'profile', 'Manage profiles for several services or accounts');
  const list = leafCommand(group, 'list', 'List every profile').action(async () => {
    const settings = settingsOf(globalFlagsOf(list), io);
    checkFields(settings, columns);
    showResult(io, settings, { data: await listProfiles(settings) }, columns);
  });
  const show = leafCommand(group, 'show', 'Show the settings of a profile')
    .argument('[name]', 'name of the profile (default: the active profile)')
    .action(async (name: string | undefined) => {
      const settings = settingsOf(globalFlagsOf(show), io);
      const known = await requireProfile(settings, name ?? settings.profile);
      const shown = { ...known, ...readConfig(settings.directory).profiles[known.name], api_url: known.api_url };
      checkFields(settings, [...columns, ...Object.keys(configKeys)]);
      showResult(io, settings, shown);
    });
  const create = leafCommand(group, 'create', 'Create a profile')
    .argument('<name>', 'name with letters, digits, ".", "_" and "-"')
    .option('--issuer <url>', 'URL of the authorization server, if different')
    .addHelpText('after', '\nThe URL of the service is required: --api-url <url>.')
    .action(async (name: string) => {
      const globalFlags = globalFlagsOf(create);
      createProfile(io, settingsOf(globalFlags, io), name, globalFlags.apiUrl, create.opts<{ issuer?: string }>().issuer);
    });
  const use = leafCommand(group, 'use', 'Set the active profile')
    .argument('<name>', 'name of the profile')
    .action(async (name: string) => {
      const settings = settingsOf(globalFlagsOf(use), io);
      await requireProfile(settings, name);
      writeConfig(settings.directory, { ...readConfig(settings.directory), active: name });
      if (!settings.quiet) io.stderr.write(`Profile ${name} is now active.\n`);
    });
  const remove = leafCommand(group, 'delete', 'Delete a profile and sign out of it')
    .argument('<name>', 'name of the profile')
    .option('-y, --yes', 'skip the confirmation prompt')
    .action(async (name: string) =>
      deleteProfile(io, settingsOf(globalFlagsOf(remove), io), name, remove.opts<{ yes?: boolean }>().yes ?? false),
    );
}

async function listProfiles(settings: Settings) {
  const credentials = await credentialStore(settings.directory).readAll();
  const { profiles } = readConfig(settings.directory);
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
  throw new CommandFailure(exitCodes.usage, 'no_profile', `Unknown profile: ${name}`, {
    hint:
      profiles.length > 0
        ? `Available profiles: ${profiles.map((profile) => profile.name).join(', ')}`
        : `Create it with: mandate profile create ${name} --api-url <url>`,
  });
}

const usageError = (message: string): CommandFailure => new CommandFailure(exitCodes.usage, 'usage', message);

function createProfile(io: Io, settings: Settings, name: string, apiUrl: string | undefined, issuer: string | undefined): void {
  if (!isProfileName(name)) throw usageError(`Invalid profile name ${JSON.stringify(name)}: use letters, digits, ".", "_" and "-"`);
  if (apiUrl === undefined) throw usageError('The URL of the service is required: --api-url <url>');
  const config = readConfig(settings.directory);
  if (config.profiles[name]) throw usageError(`Profile ${name} already exists`);
  const profile = { api_url: checkedApiUrl(io, apiUrl), ...(issuer !== undefined && { issuer: checkedApiUrl(io, issuer) }) };
  writeConfig(settings.directory, withProfile(config, name, profile));
  if (!settings.quiet) io.stderr.write(`Profile ${name} created. Sign in with: mandate login --profile ${name}\n`);
}

async function deleteProfile(io: Io, settings: Settings, name: string, yes: boolean): Promise<void> {
  const { signed_in: signedIn } = await requireProfile(settings, name);
  await confirmed(io, settings, () => `Delete profile ${name}${signedIn ? ' and sign out of it' : ''}?`, yes);
  writeConfig(settings.directory, withProfile(readConfig(settings.directory), name, undefined));
  if (signedIn) await signOut(io, settings, [name]);
  if (!settings.quiet) io.stderr.write(`Profile ${name} deleted.\n`);
}
