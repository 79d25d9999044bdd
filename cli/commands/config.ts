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
  const group = groupCommand(program, 'config', 'What a profile says, so that nobody has to type it');
  const list = leafCommand(group, 'list', 'Every key').action(() => {
    const settings = settingsOf(globalFlagsOf(list), io);
    checkFields(settings, columns);
    const data = Object.entries(configKeys).map(([key, { summary }]) => ({ key, value: settings.config[key] ?? null, what: summary }));
    showResult(io, settings, { data }, columns);
  });
  const get = leafCommand(group, 'get', 'What a key is set to')
    .argument('<key>', 'one of the keys below')
    .addHelpText('after', keyHelp)
    .action((key: string) => {
      const settings = settingsOf(globalFlagsOf(get), io);
      const value = settings.config[known(key)];
      if (value === undefined) throw new CommandFailure(exitCodes.notFound, 'not_set', `${key} is not set in profile ${settings.profile}`);
      io.stdout.write(settings.format === 'text' ? `${value}\n` : jsonLine(io, settings, { key, value }));
    });
  const set = leafCommand(group, 'set', 'Set a key')
    .argument('<key>', 'one of the keys below')
    .argument('<value>')
    .addHelpText('after', keyHelp)
    .action((key: string, value: string) => {
      if (!configKeys[known(key)]?.isValid(value)) {
        throw new CommandFailure(exitCodes.usage, 'usage', `${key} is ${configKeys[key]?.summary}, not ${JSON.stringify(value)}`);
      }
      change(settingsOf(globalFlagsOf(set), io), (profile) => ({ ...profile, [key]: value }));
    });
  const unset = leafCommand(group, 'unset', 'Take a key back')
    .argument('<key>', 'one of the keys below')
    .addHelpText('after', keyHelp)
    .action((key: string) => {
      known(key);
      change(settingsOf(globalFlagsOf(unset), io), (profile) =>
        Object.fromEntries(Object.entries(profile).filter(([name]) => name !== key)),
      );
    });
  const path = leafCommand(group, 'path', 'Where it is kept').action(() => {
    const at = configPath(directoryOf(io));
    io.stdout.write(globalFlagsOf(path).json ? `${JSON.stringify({ path: at })}\n` : `${at}\n`);
  });
}

function known(key: string): string {
  if (Object.hasOwn(configKeys, key)) return key;
  const near = nearest(key, Object.keys(configKeys));
  throw new CommandFailure(exitCodes.usage, 'usage', `There is no key ${key}`, {
    hint: near === undefined ? `There are: ${Object.keys(configKeys).join(', ')}` : `Did you mean ${near}?`,
  });
}

function change({ directory, profile }: Settings, changed: (profile: Readonly<Record<string, string>>) => Record<string, string>): void {
  const config = readConfig(directory);
  writeConfig(directory, withProfile(config, profile, changed(config.profiles[profile] ?? {})));
}
