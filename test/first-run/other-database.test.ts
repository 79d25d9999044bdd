import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { Application } from '../../server/applications/application.entity.ts';
import { hashClientSecret } from '../../server/applications/client-secret.ts';
import type { Database } from '../../server/database/entity-manager/entity-manager-type.ts';
import {
  getFirstRunCredentialsFilePath,
  readFirstRunCredentialsOfThisDatabase,
} from '../../server/first-run/first-run-credentials-file.ts';
import { createAdministratorAndDemonstrationShop } from '../../server/first-run/create-administrator-and-demonstration-shop.ts';
import { createMigratedDatabase } from '../support/services/database.ts';

let [first, second]: Database[] = [];
let dataDirectory: string;
beforeEach(async () => {
  [first, second] = [await createMigratedDatabase(), await createMigratedDatabase()];
  dataDirectory = await mkdtemp(join(tmpdir(), 'mandate-first-run-'));
});
afterEach(async () => {
  await Promise.all([first?.close(), second?.close()]);
  await rm(dataDirectory, { recursive: true });
});

const prepare = (db: Database) =>
  createAdministratorAndDemonstrationShop(
    db,
    { production: false, dataDirectory, issuer: 'http://localhost:3000', administrator: undefined },
    new Date(),
  );

test('a first-run file is used only with its database, and is kept as a backup when it is replaced', async () => {
  if (!first || !second) throw new Error('no databases');
  await prepare(first);
  const path = getFirstRunCredentialsFilePath(dataDirectory);
  const firstFile = await readFile(path, 'utf8');
  expect(await readFirstRunCredentialsOfThisDatabase(first.em.fork(), dataDirectory)).toEqual(JSON.parse(firstFile));
  expect(await readFirstRunCredentialsOfThisDatabase(second.em.fork(), dataDirectory)).toBeUndefined();
  await prepare(second);
  expect(await readFile(`${path}.previous`, 'utf8')).toBe(firstFile);
  expect(await readFirstRunCredentialsOfThisDatabase(second.em.fork(), dataDirectory)).toEqual(JSON.parse(await readFile(path, 'utf8')));
  expect(await readFirstRunCredentialsOfThisDatabase(first.em.fork(), dataDirectory)).toBeUndefined();
});

test('a first-run file is not used after its client secret has been rotated', async () => {
  if (!first) throw new Error('no database');
  await prepare(first);
  const file = await readFirstRunCredentialsOfThisDatabase(first.em.fork(), dataDirectory);
  const em = first.em.fork();
  const application = await em.findOneOrFail(Application, { clientId: file?.applications.administration.client_id ?? '' });
  application.rotateSecret(hashClientSecret('another-secret'), new Date());
  await em.flush();
  expect(await readFirstRunCredentialsOfThisDatabase(first.em.fork(), dataDirectory)).toBeUndefined();
});
