import { randomBytes } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { readJsonFile, replaceFile } from '../files/atomic-json-file.ts';
import { isObject } from '../contract-commands/schema-violations.ts';
import type { Settings } from '../settings/settings.ts';

/** What a profile signs with when it sends events on: made once and kept, so that the receiver need not be told anew. */
export async function webhookSecret({ directory, profile }: Pick<Settings, 'directory' | 'profile'>): Promise<string> {
  const path = join(directory, 'webhook-secrets.json');
  const read = await readJsonFile(path);
  const kept = isObject(read) ? read : {};
  const { [profile]: known } = kept;
  if (typeof known === 'string') return known;
  const secret = `whsec_${randomBytes(32).toString('base64')}`;
  await mkdir(directory, { recursive: true, mode: 0o700 });
  await replaceFile(path, `${JSON.stringify({ ...kept, [profile]: secret })}\n`);
  return secret;
}
