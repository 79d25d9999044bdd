import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { Application } from '../applications/application.entity.ts';
import { clientSecretMatchesHash } from '../applications/client-secret.ts';
import type { EntityManager } from '../database/entity-manager/entity-manager-type.ts';
import { replaceFileAtomically } from '../files/replace-file-atomically.ts';

const applicationSchema = z.object({
  client_id: z.string(),
  client_secret: z.string(),
  scopes: z.array(z.string()),
  redirect_uris: z.array(z.string()),
});
const accountSchema = z.object({ name: z.string(), email: z.string(), password: z.string() });

/** Accounts and applications that the first start created, for users and scripts. */
const firstRunFileSchema = z.object({
  issuer: z.string(),
  api: z.string(),
  created_at: z.string(),
  administrator: accountSchema,
  customer: accountSchema,
  /** Two confidential applications, one with all customer scopes and one with all scopes. */
  applications: z.object({ demonstration: applicationSchema, administration: applicationSchema }),
});

export type FirstRunCredentials = z.infer<typeof firstRunFileSchema>;

export const getFirstRunCredentialsFilePath = (dataDirectory: string): string => join(dataDirectory, 'first-run.json');

/** Writes the file atomically. If the file of an earlier database exists, that file is renamed first. */
export async function writeFirstRunCredentialsKeepingPrevious(dataDirectory: string, content: FirstRunCredentials): Promise<void> {
  const path = getFirstRunCredentialsFilePath(dataDirectory);
  await mkdir(dataDirectory, { recursive: true, mode: 0o700 });
  await rename(path, `${path}.previous`).catch(ignoreMissingFile);
  const text = `${JSON.stringify(content, null, 2)}\n`;
  await replaceFileAtomically(path, (temporaryPath) => writeFile(temporaryPath, text, { mode: 0o600, flush: true }));
}

/** Returns the content of the file, if the file exists, is valid and belongs to this database (not to an earlier database). */
export async function readFirstRunCredentialsOfThisDatabase(
  em: EntityManager,
  dataDirectory: string,
): Promise<FirstRunCredentials | undefined> {
  const text = await readFile(getFirstRunCredentialsFilePath(dataDirectory), 'utf8').catch(ignoreMissingFile);
  if (text === undefined) return undefined;
  const file = firstRunFileSchema.safeParse(parseJson(text)).data;
  if (!file) return undefined;
  const { client_id: clientId, client_secret: secret } = file.applications.administration;
  const application = await em.findOne(Application, { clientId });
  return application?.secretHashes.some((hash) => clientSecretMatchesHash(hash, secret)) ? file : undefined;
}

function ignoreMissingFile(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
