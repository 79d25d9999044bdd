import { randomBytes } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { readJsonFileOrEmptyObject } from '../files/read-json-file-or-empty-object.ts';
import { replaceFileAtomically } from '../files/replace-file-atomically.ts';
import { isRecord } from '../schema/find-schema-violations.ts';
import type { Settings } from '../settings/resolve-settings.ts';

/**
 * Returns the secret used to sign forwarded events. The secret is created once per profile and stored, so that receivers can keep using it.
 */
export async function loadOrCreateSigningSecret({ directory, profile }: Pick<Settings, 'directory' | 'profile'>): Promise<string> {
  const path = join(directory, 'webhook-secrets.json');
  const content = await readJsonFileOrEmptyObject(path);
  const secrets = isRecord(content) ? content : {};
  const { [profile]: existing } = secrets;
  if (typeof existing === 'string') return existing;
  const secret = `whsec_${randomBytes(32).toString('base64')}`;
  await mkdir(directory, { recursive: true, mode: 0o700 });
  await replaceFileAtomically(path, `${JSON.stringify({ ...secrets, [profile]: secret })}\n`);
  return secret;
}
