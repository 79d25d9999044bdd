import { mkdir, open, readFile, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { Application } from '../applications/application.entity.ts';
import { hashMatches } from '../applications/client-secret.ts';
import type { Em } from '../database/entity-manager/entity-manager.ts';

const application = z.object({
  client_id: z.string(),
  client_secret: z.string(),
  scopes: z.array(z.string()),
  redirect_uris: z.array(z.string()),
});
const account = z.object({ name: z.string(), email: z.string(), password: z.string() });

/** What the first start made up, so that people and scripts can go on from there. */
const firstRunFile = z.object({
  issuer: z.string(),
  api: z.string(),
  created_at: z.string(),
  administrator: account,
  customer: account,
  /** Confidential applications: one with every scope customers can give, one with all there are. */
  applications: z.object({ demonstration: application, administration: application }),
});

export type FirstRunFile = z.infer<typeof firstRunFile>;

export const firstRunPath = (dataDirectory: string): string => join(dataDirectory, 'first-run.json');

/** The file is there whole or not at all; one from another database is kept aside. */
export async function writeFirstRunFile(dataDirectory: string, content: FirstRunFile): Promise<void> {
  const path = firstRunPath(dataDirectory);
  await mkdir(dataDirectory, { recursive: true, mode: 0o700 });
  await rename(path, `${path}.previous`).catch(ignoreAbsence);
  const draft = await open(`${path}.draft`, 'w', 0o600);
  try {
    await draft.writeFile(`${JSON.stringify(content, null, 2)}\n`);
    await draft.sync();
  } finally {
    await draft.close();
  }
  await rename(`${path}.draft`, path);
}

/** The file, if it is there, whole, and about this database: not when it stems from one that was in use before. */
export async function readFirstRunFile(em: Em, dataDirectory: string): Promise<FirstRunFile | undefined> {
  const text = await readFile(firstRunPath(dataDirectory), 'utf8').catch(ignoreAbsence);
  if (text === undefined) return undefined;
  const file = firstRunFile.safeParse(parsed(text)).data;
  if (!file) return undefined;
  const { client_id: clientId, client_secret: secret } = file.applications.administration;
  const kept = await em.findOne(Application, { clientId });
  return kept?.secretHashes.some((hash) => hashMatches(hash, secret)) ? file : undefined;
}

function ignoreAbsence(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
