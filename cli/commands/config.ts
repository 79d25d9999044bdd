import type { Command } from 'commander';
import { CommandFailure } from '../errors/command-error.ts';
import { configKeys, configPath, readConfig, withProfile, writeConfig } from '../settings/config-file.ts';
import { directoryOf } from '../settings/config-directory.ts';
import { exitCodes } from '../errors/exit-codes.ts';
import type { Io } from '../environment.ts';
import { nearest } from '../terminal/did-you-mean.ts';
import { globalFlagsOf, groupCommand, leafCommand } from '../command-helpers.ts';
import { settingsOf, type Settings } from '../settings/settings.ts';
import { checkFields, jsonLine, showResult } from '../output/print-result.ts';

const columns = ['key', 'value', 'what'];
const keyHelp = `\nKeys:\n${Object.entries(configKeys)
  .map(([key, { summary }]) => `  ${key.padEnd(12)}${summary}`)
  .join('\n')}`;

export function addConfig(program: Command, io: Io): void {
  const group = groupCommand(program, 'config', 'Read and change the settings of a profile');
  const list = leafCommand(group, 'list', 'List every key and its value').action(() => {
    const settings = settingsOf(globalFlagsOf(list), io);
    checkFields(settings, columns);
    const data = Object.entries(configKeys).map(([key, { summary }]) => ({ key, value: settings.config[key] ?? null, what: summary }));
    showResult(io, settings, { data }, columns);
  });
  const get = leafCommand(group, 'get', 'Print the value of a key')
    .argument('<key>', 'one of the keys below')
    .addHelpText('after', keyHelp)
    .action((key: string) => {
      const settings = settingsOf(globalFlagsOf(get), io);
      const value = settings.config[requireKnownKey(key)];
      if (value === undefined) throw new CommandFailure(exitCodes.notFound, 'not_set', `${key} is not set in profile ${settings.profile}`);
      io.stdout.write(settings.format === 'text' ? `${value}\n` : jsonLine(io, settings, { key, value }));
    });
  const set = leafCommand(group, 'set', 'Set the value of a key')
    .argument('<key>', 'one of the keys below')
    .argument('<value>')
    .addHelpText('after', keyHelp)
    .action((key: string, value: string) => {
      if (!configKeys[requireKnownKey(key)]?.isValid(value)) {
        throw new CommandFailure(
          exitCodes.usage,
          'usage',
          `Invalid value for ${key} (${configKeys[key]?.summary}): ${JSON.stringify(value)}`,
        );
      }
      updateProfile(settingsOf(globalFlagsOf(set), io), (profile) => ({ ...profile, [key]: value }));
    });
  const unset = leafCommand(group, 'unset', 'Remove the value of a key')
    .argument('<key>', 'one of the keys below')
    .addHelpText('after', keyHelp)
    .action((key: string) => {
      requireKnownKey(key);
      updateProfile(settingsOf(globalFlagsOf(unset), io), (profile) =>
        Object.fromEntries(Object.entries(profile).filter(([name]) => name !== key)),
      );
    });
  const path = leafCommand(group, 'path', 'Print the path of the configuration file').action(() => {
    const file = configPath(directoryOf(io));
    io.stdout.write(globalFlagsOf(path).json ? `${JSON.stringify({ path: file })}\n` : `${file}\n`);
  });
}

function requireKnownKey(key: string): string {
  if (Object.hasOwn(configKeys, key)) return key;
  const closest = nearest(key, Object.keys(configKeys));
  throw new CommandFailure(exitCodes.usage, 'usage', `Unknown key: ${key}`, {
    hint: closest === undefined ? `Available keys: ${Object.keys(configKeys).join(', ')}` : `Did you mean ${closest}?`,
  });
}

function updateProfile(
  { directory, profile }: Settings,
  update: (profile: Readonly<Record<string, string>>) => Record<string, string>,
): void {
  const config = readConfig(directory);
  writeConfig(directory, withProfile(config, profile, update(config.profiles[profile] ?? {})));
}
