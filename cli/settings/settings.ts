import { CommandFailure } from '../errors/command-error.ts';
import { isProfileName, readConfig, type ProfileConfig } from './config-file.ts';
import { directoryOf } from './config-directory.ts';
import { exitCodes } from '../errors/exit-codes.ts';
import type { Io } from '../environment.ts';
import { durationMs } from '../contract-commands/parse-flags.ts';

/** The flags that every command has, as commander gives them. */
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
  /** Where the API is, when a flag, the environment or the profile says so; otherwise the sign-in decides. */
  readonly apiUrl: string | undefined;
  /** Used as it is: neither stored nor renewed. */
  readonly token: string | undefined;
  readonly format: 'text' | 'json' | 'jsonl';
  readonly fields: readonly string[] | undefined;
  readonly get: string | undefined;
  /** A jq filter for the JSON, prepared by `prepareJq`. */
  readonly jq: string | undefined;
  readonly quiet: boolean;
  /** Whether a person may be asked to confirm something. */
  readonly asks: boolean;
  /** Whether a person may be asked for what the command line lacks: only at a terminal that shows the result as well. */
  readonly completes: boolean;
  readonly color: boolean;
  readonly timeoutMs: number | undefined;
  readonly debug: boolean;
  readonly directory: string;
  /** The flags that chose service and profile, for commands that are suggested. */
  readonly origin: readonly string[];
  /** What else the profile says. */
  readonly config: ProfileConfig;
};

/** The profile of the command, unless it is the one that every command uses without a flag. */
const profilesToName = new WeakMap<Io, string | undefined>();

/** Adds the profile of the command to each `mandate login` in a text, so that the user does not sign in with another profile. */
export function withProfile(io: Io, text: string): string {
  const profile = profilesToName.get(io);
  return profile === undefined ? text : text.replaceAll('mandate login', `mandate login --profile ${profile}`);
}

/** A flag wins over the environment, the environment over the profile. */
export function settingsOf(flags: GlobalFlags, io: Io): Settings {
  const { env } = io;
  const directory = directoryOf(io);
  const kept = readConfig(directory);
  const profile = flags.profile ?? (env['MANDATE_PROFILE'] || (kept.active ?? 'default'));
  if (!isProfileName(profile)) throw usage(`A profile is called by letters, digits, ".", "_" and "-", not ${JSON.stringify(profile)}`);
  const config = kept.profiles[profile] ?? {};
  const asks = io.stdinIsTTY && !flags.noInput && !env['CI'];
  if (flags.jq !== undefined && (flags.get !== undefined || flags.fields !== undefined))
    throw usage('--jq goes with neither --get nor --fields: the filter can choose as well');
  const isUsual = profile === 'default' && (env['MANDATE_PROFILE'] || (kept.active ?? 'default')) === 'default';
  profilesToName.set(io, isUsual ? undefined : profile);
  return {
    profile,
    apiUrl: flags.apiUrl ?? (env['MANDATE_API_URL'] || config['api_url']),
    token: env['MANDATE_TOKEN'] || undefined,
    format: flags.jsonl ? 'jsonl' : flags.json || flags.jq !== undefined ? 'json' : 'text',
    fields: flags.fields?.split(',').map((field) => field.trim()),
    get: flags.get,
    jq: flags.jq,
    quiet: flags.quiet ?? false,
    asks,
    completes: asks && io.stdout.isTTY && io.stderr.isTTY,
    color: wantsColor(flags.color, config['color'], io),
    timeoutMs: timeoutOf(flags.timeout ?? (env['MANDATE_TIMEOUT'] || config['timeout'])),
    debug: flags.debug ?? env['MANDATE_DEBUG'] === '1',
    directory,
    origin: [
      ...(flags.profile === undefined ? [] : ['--profile', flags.profile]),
      ...(flags.apiUrl === undefined ? [] : ['--api-url', flags.apiUrl]),
    ],
    config,
  };
}

const usage = (message: string): CommandFailure => new CommandFailure(exitCodes.usage, 'usage', message);

function timeoutOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const ms = durationMs(text);
  if (!ms) throw usage(`A timeout is written like 500ms, 30s or 5m, not ${JSON.stringify(text)}`);
  return ms;
}

function wantsColor(flag: string | boolean | undefined, usual: string | undefined, { env, stdout }: Io): boolean {
  if (flag === false || flag === 'never') return false;
  if (flag === 'always') return true;
  if (flag !== undefined && flag !== true && flag !== 'auto') throw usage('--color is auto, always or never');
  if (env['NO_COLOR']) return false;
  if (env['FORCE_COLOR']) return env['FORCE_COLOR'] !== '0';
  if (usual === 'always' || usual === 'never') return usual === 'always';
  return stdout.isTTY && env['TERM'] !== 'dumb';
}
