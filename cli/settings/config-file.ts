import { randomUUID } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { CommandFailure } from '../errors/command-error.ts';
import { exitCodes } from '../errors/exit-codes.ts';
import { isObject } from '../contract-commands/schema-violations.ts';

/** What a profile can say, so that nobody has to type it each time; all of it as text. */
export const configKeys: Readonly<Record<string, { readonly summary: string; readonly isValid: (value: string) => boolean }>> = {
  api_url: { summary: 'where the service is', isValid: (value) => URL.canParse(value) && /^https?:$/.test(new URL(value).protocol) },
  issuer: {
    summary: 'where its authorization server is, if elsewhere',
    isValid: (value) => URL.canParse(value) && /^https?:$/.test(new URL(value).protocol),
  },
  timeout: { summary: 'for each request: 30s', isValid: (value) => /^[1-9]\d{0,5}(?:ms|s|m|h)$/.test(value) },
  color: { summary: 'auto, always or never', isValid: (value) => ['auto', 'always', 'never'].includes(value) },
  'login.mode': { summary: 'browser or device', isValid: (value) => ['browser', 'device'].includes(value) },
  dpop: { summary: 'on binds tokens to a key of this machine, off does not', isValid: (value) => ['on', 'off'].includes(value) },
  storage: {
    summary: 'where the refresh token is kept: auto, keyring or file',
    isValid: (value) => ['auto', 'keyring', 'file'].includes(value),
  },
};

export type ProfileConfig = Readonly<Record<string, string>>;
export type Config = { readonly active: string | undefined; readonly profiles: Readonly<Record<string, ProfileConfig>> };

export const configPath = (directory: string): string => join(directory, 'config.json');

/** What the profiles say. Read at once and in one go, because it decides how everything else goes on. */
export function readConfig(directory: string): Config {
  const path = configPath(directory);
  const parsed = parsedOrUndefined(textOf(path));
  if (isConfig(parsed)) return { active: parsed.active, profiles: parsed.profiles ?? {} };
  throw new CommandFailure(exitCodes.unforeseen, 'broken_config', `${path} is broken`, { hint: `Mend or remove it: rm ${path}` });
}

export function writeConfig(directory: string, config: Config): void {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const path = configPath(directory);
  const draft = `${path}.${randomUUID()}`;
  writeFileSync(draft, `${JSON.stringify(config, null, 2)}\n`, { flag: 'wx', mode: 0o600 });
  renameSync(draft, path);
}

/** The same with one profile changed; `undefined` forgets it. */
export function withProfile({ active, profiles }: Config, name: string, profile: ProfileConfig | undefined): Config {
  const { [name]: _, ...others } = profiles;
  return {
    active: profile === undefined && active === name ? undefined : active,
    profiles: profile ? { ...others, [name]: profile } : others,
  };
}

export const isProfileName = (name: string): boolean => /^[\w.-]{1,64}$/.test(name) && !['__proto__', '.', '..'].includes(name);

function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ENOTDIR')) return '{}';
    throw error;
  }
}

function parsedOrUndefined(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const isConfig = (value: unknown): value is { active?: string; profiles?: Record<string, ProfileConfig> } =>
  isObject(value) &&
  (value['active'] === undefined || typeof value['active'] === 'string') &&
  (value['profiles'] === undefined ||
    (isObject(value['profiles']) &&
      Object.values(value['profiles']).every(
        (profile) => isObject(profile) && Object.values(profile).every((one) => typeof one === 'string'),
      )));
