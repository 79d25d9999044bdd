import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { run } from './run.ts';

/** The last versions of the package that have the generator in them; later ones fetch it from elsewhere. */
const versions = {
  /** Its templates for Go write no models. */
  '1.0.18-5.0.0-beta2': 'zcuOcVKuQ/wp5immG4l3/w5koLHLy+NCoFPK4RQ2iz34kHgtaRfXzNIroulHWLUNuoWgx9y2zYecEITX6ndGMA==',
  '1.0.15-5.0.0-beta': '4Sbl/o2XbArryKnvsAtrK4UwXe0nTGnHErkYlMuIZYWBIZdEq8EeHHHHcVLlH1K3LZVP+uu18If51DcLtqVW4A==',
} as const;

/** What does not change from one time to the next. */
export const cache = join(tmpdir(), 'mandate-generated-clients');

export type GeneratorVersion = keyof typeof versions;

/** The generator as a file to run, fetched once and compared with what it was when it was chosen. */
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
  if (found !== versions[version]) throw new Error(`${file} is not what it was: ${found}`);
  await run('tar', ['xzf', file], { cwd: folder });
  return jar;
}
