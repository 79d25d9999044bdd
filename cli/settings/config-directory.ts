import { join } from 'node:path';
import type { CliEnvironment } from '../environment/cli-environment-type.ts';

/** Returns the directory that contains the configuration and credential files. */
export function getConfigDirectory({ env, homeDirectory, platform }: Pick<CliEnvironment, 'env' | 'homeDirectory' | 'platform'>): string {
  if (env['MANDATE_CONFIG_DIR']) return env['MANDATE_CONFIG_DIR'];
  if (platform === 'win32' && env['APPDATA']) return join(env['APPDATA'], 'mandate');
  return join(env['XDG_CONFIG_HOME'] || join(homeDirectory, '.config'), 'mandate');
}
