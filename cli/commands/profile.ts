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
  const group = groupCommand(program, 'profile', 'Several services, or several people, side by side');
  const list = leafCommand(group, 'list', 'Every profile').action(async () => {
    const settings = settingsOf(globalFlagsOf(list), io);
    checkFields(settings, columns);
    showResult(io, settings, { data: await profilesOf(settings) }, columns);
  });
  const show = leafCommand(group, 'show', 'What a profile says')
    .argument('[name]', 'the active one without it')
    .action(async (name: string | undefined) => {
      const settings = settingsOf(globalFlagsOf(show), io);
      const known = await existing(settings, name ?? settings.profile);
      const shown = { ...known, ...readConfig(settings.directory).profiles[known.name], api_url: known.api_url };
      checkFields(settings, [...columns, ...Object.keys(configKeys)]);
      showResult(io, settings, shown);
    });
  const create = leafCommand(group, 'create', 'Make a profile')
    .argument('<name>', 'letters, digits, ".", "_" and "-"')
    .option('--issuer <url>', 'where its authorization server is, if elsewhere')
    .addHelpText('after', '\nWhere the service is has to be said: --api-url <url>.')
    .action(async (name: string) => {
      const given = globalFlagsOf(create);
      createProfile(io, settingsOf(given, io), name, given.apiUrl, create.opts<{ issuer?: string }>().issuer);
    });
  const use = leafCommand(group, 'use', 'Make a profile the active one')
    .argument('<name>', 'name of the profile')
    .action(async (name: string) => {
      const settings = settingsOf(globalFlagsOf(use), io);
      await existing(settings, name);
      writeConfig(settings.directory, { ...readConfig(settings.directory), active: name });
      if (!settings.quiet) io.stderr.write(`Profile ${name} is the active one now.\n`);
    });
  const remove = leafCommand(group, 'delete', 'Delete a profile, signing out of it')
    .argument('<name>', 'name of the profile')
    .option('-y, --yes', 'do not ask')
    .action(async (name: string) =>
      deleteProfile(io, settingsOf(globalFlagsOf(remove), io), name, remove.opts<{ yes?: boolean }>().yes ?? false),
    );
}

async function profilesOf(settings: Settings) {
  const kept = await credentialStore(settings.directory).readAll();
  const { profiles } = readConfig(settings.directory);
  const names = [...new Set([...Object.keys(profiles), ...Object.keys(kept)])].toSorted();
  return names.map((name) => ({
    name,
    active: name === settings.profile,
    api_url: profiles[name]?.['api_url'] ?? kept[name]?.apiUrl ?? null,
    user: kept[name]?.user?.email ?? null,
    signed_in: kept[name] !== undefined,
  }));
}

async function existing(settings: Settings, name: string) {
  const profiles = await profilesOf(settings);
  const found = profiles.find((profile) => profile.name === name);
  if (found) return found;
  throw new CommandFailure(exitCodes.usage, 'no_profile', `There is no profile ${name}`, {
    hint:
      profiles.length > 0
        ? `There are: ${profiles.map((profile) => profile.name).join(', ')}`
        : `Make it: mandate profile create ${name} --api-url <url>`,
  });
}

const usage = (message: string): CommandFailure => new CommandFailure(exitCodes.usage, 'usage', message);

function createProfile(io: Io, settings: Settings, name: string, apiUrl: string | undefined, issuer: string | undefined): void {
  if (!isProfileName(name)) throw usage(`A profile is called by letters, digits, ".", "_" and "-", not ${JSON.stringify(name)}`);
  if (apiUrl === undefined) throw usage('Say where its service is: --api-url <url>');
  const config = readConfig(settings.directory);
  if (config.profiles[name]) throw usage(`There is a profile ${name} already`);
  const said = { api_url: checkedApiUrl(io, apiUrl), ...(issuer !== undefined && { issuer: checkedApiUrl(io, issuer) }) };
  writeConfig(settings.directory, withProfile(config, name, said));
  if (!settings.quiet) io.stderr.write(`Profile ${name} is there. Sign in with: mandate login --profile ${name}\n`);
}

async function deleteProfile(io: Io, settings: Settings, name: string, yes: boolean): Promise<void> {
  const { signed_in: signedIn } = await existing(settings, name);
  await confirmed(io, settings, () => `Delete profile ${name}${signedIn ? ' and sign out of it' : ''}?`, yes);
  writeConfig(settings.directory, withProfile(readConfig(settings.directory), name, undefined));
  if (signedIn) await signOut(io, settings, [name]);
  if (!settings.quiet) io.stderr.write(`Profile ${name} is gone.\n`);
}
