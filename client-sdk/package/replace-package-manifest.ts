import { readFile, rename, writeFile } from 'node:fs/promises';

export type PackageManifest = Readonly<Record<string, unknown>>;

const manifestUrl = (folder: URL): URL => new URL('package.json', folder);
const backupUrl = (folder: URL): URL => new URL('package.json.source', folder);

/** Reads the package.json of `folder`. */
export async function readPackageManifest<Known extends PackageManifest>(folder: URL): Promise<Known> {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- our own file
  return JSON.parse(await readFile(manifestUrl(folder), 'utf8')) as Known;
}

/** Replaces the package.json of `folder` until `restoreReplacedPackageManifest` is called. */
export async function replacePackageManifest(folder: URL, content: PackageManifest): Promise<void> {
  await rename(manifestUrl(folder), backupUrl(folder));
  await writeFile(manifestUrl(folder), `${JSON.stringify(content, null, 2)}\n`);
}

/** Restores the package.json that `replacePackageManifest` replaced. */
export const restoreReplacedPackageManifest = (folder: URL): Promise<void> => rename(backupUrl(folder), manifestUrl(folder));
