import type { Command } from 'commander';
import { CommandError } from '../errors/command-error.ts';
import {
  profileSettingDefinitions,
  getConfigFilePath,
  readConfigFile,
  copyConfigWithProfileReplacedOrRemoved,
  writeConfigFile,
} from '../settings/config-file.ts';
import { getConfigDirectory } from '../settings/config-directory.ts';
import { exitCodes } from '../errors/exit-codes.ts';
import type { CliEnvironment } from '../environment/cli-environment-type.ts';
import { findClosestMatch } from '../terminal/find-closest-match.ts';
import { readGlobalFlags, addCommandGroup, addCommandWithoutSubcommands } from './global-flags-and-command-groups.ts';
import { settingsFromFlagsEnvironmentAndProfile, type Settings } from '../settings/resolve-settings.ts';
import { assertRequestedFieldsKnown, formatJsonLineOrJqResults, printResult } from '../output/print-result.ts';

const columns = ['key', 'value', 'what'];
const keyHelp = `\nKeys:\n${Object.entries(profileSettingDefinitions)
  .map(([key, { summary }]) => `  ${key.padEnd(12)}${summary}`)
  .join('\n')}`;

export function addConfigCommands(program: Command, io: CliEnvironment): void {
  const group = addCommandGroup(program, 'config', 'Read and change the settings of a profile');
  const list = addCommandWithoutSubcommands(group, 'list', 'List all keys and their values').action(() => {
    const settings = settingsFromFlagsEnvironmentAndProfile(readGlobalFlags(list), io);
    assertRequestedFieldsKnown(settings, columns);
    const data = Object.entries(profileSettingDefinitions).map(([key, { summary }]) => ({
      key,
      value: settings.config[key] ?? null,
      what: summary,
    }));
    printResult(io, settings, { data }, columns);
  });
  const get = addCommandWithoutSubcommands(group, 'get', 'Print the value of a key')
    .argument('<key>', 'one of the keys below')
    .addHelpText('after', keyHelp)
    .action((key: string) => {
      const settings = settingsFromFlagsEnvironmentAndProfile(readGlobalFlags(get), io);
      const value = settings.config[requireKnownKey(key)];
      if (value === undefined) throw new CommandError(exitCodes.notFound, 'not_set', `${key} is not set in profile ${settings.profile}`);
      io.stdout.write(settings.format === 'text' ? `${value}\n` : formatJsonLineOrJqResults(io, settings, { key, value }));
    });
  const set = addCommandWithoutSubcommands(group, 'set', 'Set the value of a key')
    .argument('<key>', 'one of the keys below')
    .argument('<value>')
    .addHelpText('after', keyHelp)
    .action(async (key: string, value: string) => {
      if (!profileSettingDefinitions[requireKnownKey(key)]?.isValid(value)) {
        throw new CommandError(
          exitCodes.usage,
          'usage',
          `Invalid value for ${key} (${profileSettingDefinitions[key]?.summary}): ${JSON.stringify(value)}`,
        );
      }
      await updateProfile(settingsFromFlagsEnvironmentAndProfile(readGlobalFlags(set), io), (profile) => ({ ...profile, [key]: value }));
    });
  const unset = addCommandWithoutSubcommands(group, 'unset', 'Remove the value of a key')
    .argument('<key>', 'one of the keys below')
    .addHelpText('after', keyHelp)
    .action(async (key: string) => {
      requireKnownKey(key);
      await updateProfile(settingsFromFlagsEnvironmentAndProfile(readGlobalFlags(unset), io), (profile) =>
        Object.fromEntries(Object.entries(profile).filter(([name]) => name !== key)),
      );
    });
  const path = addCommandWithoutSubcommands(group, 'path', 'Print the path of the configuration file').action(() => {
    const file = getConfigFilePath(getConfigDirectory(io));
    io.stdout.write(readGlobalFlags(path).json ? `${JSON.stringify({ path: file })}\n` : `${file}\n`);
  });
}

function requireKnownKey(key: string): string {
  if (Object.hasOwn(profileSettingDefinitions, key)) return key;
  const closest = findClosestMatch(key, Object.keys(profileSettingDefinitions));
  throw new CommandError(exitCodes.usage, 'usage', `Unknown key: ${key}`, {
    hint: closest === undefined ? `Available keys: ${Object.keys(profileSettingDefinitions).join(', ')}` : `Did you mean ${closest}?`,
  });
}

async function updateProfile(
  { directory, profile }: Settings,
  update: (profile: Readonly<Record<string, string>>) => Record<string, string>,
): Promise<void> {
  const config = readConfigFile(directory);
  await writeConfigFile(directory, copyConfigWithProfileReplacedOrRemoved(config, profile, update(config.profiles[profile] ?? {})));
}
