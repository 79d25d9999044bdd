import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import { z } from 'zod';

export const deployDirectory = join(import.meta.dirname, '../../deploy');

export const manifest = z
  .object({ apiVersion: z.string(), kind: z.string(), metadata: z.object({ name: z.string() }).passthrough() })
  .passthrough();
export type Manifest = z.infer<typeof manifest>;

/** Parses all documents in a YAML file. Throws if the file is malformed or has a duplicate key. */
export async function yamlDocuments(path: string): Promise<unknown[]> {
  const documents = parseAllDocuments(await readFile(join(deployDirectory, path), 'utf8'), { merge: true });
  return documents.map((document) => {
    const [problem] = [...document.errors, ...document.warnings];
    if (problem) throw problem;
    return document.toJS();
  });
}

/** Reads the manifests that are applied to a cluster, grouped by file. */
export async function kubernetesManifests(): Promise<readonly { readonly file: string; readonly manifest: Manifest }[]> {
  const files = (await readdir(join(deployDirectory, 'kubernetes'))).filter((name) => name !== 'kustomization.yaml');
  const found = await Promise.all(
    files.map(async (file) =>
      (await yamlDocuments(`kubernetes/${file}`)).map((document) => ({ file, manifest: manifest.parse(document) })),
    ),
  );
  return found.flat();
}
