import { readFileSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { CommandError } from '../errors/command-error.ts';
import { exitCodes } from '../errors/exit-codes.ts';
import { replaceFileAtomically } from '../files/replace-file-atomically.ts';
import { isRecord } from '../schema/find-schema-violations.ts';

/** The settings that a profile can contain. All values are strings. */
export const profileSettingDefinitions: Readonly<
  Record<string, { readonly summary: string; readonly isValid: (value: string) => boolean }>
> = {
  api_url: { summary: 'URL of the service', isValid: (value) => URL.canParse(value) && /^https?:$/.test(new URL(value).protocol) },
  issuer: {
    summary: 'URL of the authorization server, if it differs from the service URL',
    isValid: (value) => URL.canParse(value) && /^https?:$/.test(new URL(value).protocol),
  },
  timeout: { summary: 'timeout for each request, such as 30s', isValid: (value) => /^[1-9]\d{0,5}(?:ms|s|m|h)$/.test(value) },
  color: { summary: 'auto, always or never', isValid: (value) => ['auto', 'always', 'never'].includes(value) },
  'login.mode': { summary: 'browser or device', isValid: (value) => ['browser', 'device'].includes(value) },
  dpop: { summary: 'on or off: whether to bind tokens to a key on this machine', isValid: (value) => ['on', 'off'].includes(value) },
  storage: {
    summary: 'where to store the refresh token: auto, keyring or file',
    isValid: (value) => ['auto', 'keyring', 'file'].includes(value),
  },
};

export type ProfileConfig = Readonly<Record<string, string>>;
export type Config = { readonly active: string | undefined; readonly profiles: Readonly<Record<string, ProfileConfig>> };

export const getConfigFilePath = (directory: string): string => join(directory, 'config.json');

/** Reads the configuration file. The file is read synchronously, because all other settings depend on it. */
export function readConfigFile(directory: string): Config {
  const path = getConfigFilePath(directory);
  const parsed = parseJsonOrUndefined(readTextOrEmptyObject(path));
  if (isConfig(parsed)) return { active: parsed.active, profiles: parsed.profiles ?? {} };
  throw new CommandError(exitCodes.unexpectedError, 'broken_config', `${path} is not a valid configuration file`, {
    hint: `Repair or remove it: rm ${path}`,
  });
}

export async function writeConfigFile(directory: string, config: Config): Promise<void> {
  await mkdir(directory, { recursive: true, mode: 0o700 });
  await replaceFileAtomically(getConfigFilePath(directory), `${JSON.stringify(config, null, 2)}\n`);
}

/** Returns a copy of the configuration with one profile replaced, or removed if `profile` is undefined. */
export function copyConfigWithProfileReplacedOrRemoved(
  { active, profiles }: Config,
  name: string,
  profile: ProfileConfig | undefined,
): Config {
  const { [name]: _, ...others } = profiles;
  return {
    active: profile === undefined && active === name ? undefined : active,
    profiles: profile ? { ...others, [name]: profile } : others,
  };
}

export const isValidProfileName = (name: string): boolean => /^[\w.-]{1,64}$/.test(name) && !['__proto__', '.', '..'].includes(name);

function readTextOrEmptyObject(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ENOTDIR')) return '{}';
    throw error;
  }
}

function parseJsonOrUndefined(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const isConfig = (value: unknown): value is { active?: string; profiles?: Record<string, ProfileConfig> } =>
  isRecord(value) &&
  (value['active'] === undefined || typeof value['active'] === 'string') &&
  (value['profiles'] === undefined ||
    (isRecord(value['profiles']) &&
      Object.values(value['profiles']).every(
        (profile) => isRecord(profile) && Object.values(profile).every((one) => typeof one === 'string'),
      )));
