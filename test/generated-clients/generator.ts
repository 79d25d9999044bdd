import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { run } from './run-command.ts';

/** The latest npm package versions that contain the generator. Newer versions download the generator separately. */
const versions = {
  /** This generator version is not used for Go, because its Go templates generate no models. */
  '1.0.18-5.0.0-beta2': 'zcuOcVKuQ/wp5immG4l3/w5koLHLy+NCoFPK4RQ2iz34kHgtaRfXzNIroulHWLUNuoWgx9y2zYecEITX6ndGMA==',
  '1.0.15-5.0.0-beta': '4Sbl/o2XbArryKnvsAtrK4UwXe0nTGnHErkYlMuIZYWBIZdEq8EeHHHHcVLlH1K3LZVP+uu18If51DcLtqVW4A==',
} as const;

/** Files that are kept between runs. */
export const cache = join(tmpdir(), 'mandate-generated-clients');

export type GeneratorVersion = keyof typeof versions;

/** Downloads the generator once, verifies its hash, and returns the jar file's path. */
export async function generatorJar(version: GeneratorVersion): Promise<string> {
  const folder = join(cache, version);
  const jar = join(folder, 'package', 'bin', 'openapi-generator.jar');
  if (existsSync(jar)) return jar;
  await mkdir(folder, { recursive: true });
  await run('npm', ['pack', '--silent', `@openapitools/openapi-generator-cli@${version}`], { cwd: folder });
  const file = join(folder, `openapitools-openapi-generator-cli-${version}.tgz`);
  const found = createHash('sha512')
    .update(await readFile(file))
    .digest('base64');
  if (found !== versions[version]) throw new Error(`${file} has an unexpected hash: ${found}`);
  await run('tar', ['xzf', file], { cwd: folder });
  return jar;
}
