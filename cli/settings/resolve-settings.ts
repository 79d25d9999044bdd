import { CommandError } from '../errors/command-error.ts';
import { isValidProfileName, readConfigFile, type ProfileConfig } from './config-file.ts';
import { getConfigDirectory } from './config-directory.ts';
import { exitCodes } from '../errors/exit-codes.ts';
import type { CliEnvironment } from '../environment/cli-environment-type.ts';
import { parseDurationMs } from './parse-duration.ts';

/** The global flags, as parsed by commander. */
export type GlobalFlags = {
  readonly profile?: string;
  readonly apiUrl?: string;
  readonly json?: boolean;
  readonly jsonl?: boolean;
  readonly fields?: string;
  readonly get?: string;
  readonly jq?: string;
  readonly quiet?: boolean;
  readonly noInput?: boolean;
  readonly color?: string | boolean;
  readonly timeout?: string;
  readonly debug?: boolean;
};

export type Settings = {
  readonly profile: string;
  /** API URL from a flag, the environment or the profile; undefined to use the URL stored at sign-in. */
  readonly apiUrl: string | undefined;
  /** Token from the environment, which is never stored or renewed. */
  readonly token: string | undefined;
  readonly format: 'text' | 'json' | 'jsonl';
  readonly fields: readonly string[] | undefined;
  readonly get: string | undefined;
  /** jq filter for the JSON output, already compiled by `loadJqAndCheckFilter`. */
  readonly jq: string | undefined;
  readonly quiet: boolean;
  /** Whether the user can be asked to confirm an operation. */
  readonly canConfirm: boolean;
  /** Whether the user can be prompted for missing flags, which requires a terminal for input and output. */
  readonly canPromptForFlags: boolean;
  readonly color: boolean;
  readonly timeoutMs: number | undefined;
  readonly debug: boolean;
  readonly directory: string;
  /** The flags that selected the service and the profile, to be repeated in suggested commands. */
  readonly selectionFlags: readonly string[];
  /** All settings of the profile. */
  readonly config: ProfileConfig;
};

/** The profile of the current command, or undefined if it is the default profile and can be omitted in suggested commands. */
const profilesInHints = new WeakMap<CliEnvironment, string | undefined>();

/** Adds the profile of the current command to each `mandate login` in the text, so that users do not sign in to the wrong profile. */
export function addProfileToLoginHint(io: CliEnvironment, text: string): string {
  const profile = profilesInHints.get(io);
  return profile === undefined ? text : text.replaceAll('mandate login', `mandate login --profile ${profile}`);
}

/**
 * Returns the settings from the flags, the environment and the profile. Flags override the environment, and the environment overrides the
 * profile.
 */
export function settingsFromFlagsEnvironmentAndProfile(flags: GlobalFlags, io: CliEnvironment): Settings {
  const { env } = io;
  const directory = getConfigDirectory(io);
  const storedConfig = readConfigFile(directory);
  const profile = flags.profile ?? (env['MANDATE_PROFILE'] || (storedConfig.active ?? 'default'));
  if (!isValidProfileName(profile))
    throw usageError(`Invalid profile name ${JSON.stringify(profile)}: use letters, digits, ".", "_" and "-"`);
  const config = storedConfig.profiles[profile] ?? {};
  const canConfirm = io.stdinIsTTY && !flags.noInput && !env['CI'];
  if (flags.jq !== undefined && (flags.get !== undefined || flags.fields !== undefined))
    throw usageError('--jq cannot be combined with --get or --fields');
  const isDefault = profile === 'default' && (env['MANDATE_PROFILE'] || (storedConfig.active ?? 'default')) === 'default';
  profilesInHints.set(io, isDefault ? undefined : profile);
  return {
    profile,
    apiUrl: flags.apiUrl ?? (env['MANDATE_API_URL'] || config['api_url']),
    token: env['MANDATE_TOKEN'] || undefined,
    format: flags.jsonl ? 'jsonl' : flags.json || flags.jq !== undefined ? 'json' : 'text',
    fields: flags.fields?.split(',').map((field) => field.trim()),
    get: flags.get,
    jq: flags.jq,
    quiet: flags.quiet ?? false,
    canConfirm,
    canPromptForFlags: canConfirm && io.stdout.isTTY && io.stderr.isTTY,
    color: useColor(flags.color, config['color'], io),
    timeoutMs: parseTimeout(flags.timeout ?? (env['MANDATE_TIMEOUT'] || config['timeout'])),
    debug: flags.debug ?? env['MANDATE_DEBUG'] === '1',
    directory,
    selectionFlags: [
      ...(flags.profile === undefined ? [] : ['--profile', flags.profile]),
      ...(flags.apiUrl === undefined ? [] : ['--api-url', flags.apiUrl]),
    ],
    config,
  };
}

const usageError = (message: string): CommandError => new CommandError(exitCodes.usage, 'usage', message);

function parseTimeout(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const ms = parseDurationMs(text);
  if (!ms) throw usageError(`A timeout must be a duration such as 500ms, 30s or 5m, not ${JSON.stringify(text)}`);
  return ms;
}

function useColor(flag: string | boolean | undefined, configured: string | undefined, { env, stdout }: CliEnvironment): boolean {
  if (flag === false || flag === 'never') return false;
  if (flag === 'always') return true;
  if (flag !== undefined && flag !== true && flag !== 'auto') throw usageError('--color must be auto, always or never');
  if (env['NO_COLOR']) return false;
  if (env['FORCE_COLOR']) return env['FORCE_COLOR'] !== '0';
  if (configured === 'always' || configured === 'never') return configured === 'always';
  return stdout.isTTY && env['TERM'] !== 'dumb';
}
