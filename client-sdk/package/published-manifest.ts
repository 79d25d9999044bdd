import { readFile, rename, writeFile } from 'node:fs/promises';

export type Manifest = Readonly<Record<string, unknown>>;

const manifestIn = (folder: URL): URL => new URL('package.json', folder);
const asideIn = (folder: URL): URL => new URL('package.json.source', folder);

export async function readManifest<Known extends Manifest>(folder: URL): Promise<Known> {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- our own file
  return JSON.parse(await readFile(manifestIn(folder), 'utf8')) as Known;
}

/** Replaces the package.json of `folder` while the package is packed. */
export async function replaceManifest(folder: URL, content: Manifest): Promise<void> {
  await rename(manifestIn(folder), asideIn(folder));
  await writeFile(manifestIn(folder), `${JSON.stringify(content, null, 2)}\n`);
}

export const restoreManifest = (folder: URL): Promise<void> => rename(asideIn(folder), manifestIn(folder));
