import { z } from 'zod';
import { readLockedPackages, packageNameFromPath, findProductionPackages } from './locked-and-production-packages.ts';
import { publishedWorkspaces } from './release-checks.ts';

/** The parts of a CycloneDX document that this module reads or changes. */
const billSchema = z
  .object({
    metadata: z.object({ component: z.object({ 'bom-ref': z.string(), name: z.string() }).passthrough() }).passthrough(),
    components: z.array(z.object({ 'bom-ref': z.string() }).passthrough()),
    dependencies: z.array(z.object({ ref: z.string(), dependsOn: z.array(z.string()) }).passthrough()),
  })
  .passthrough();
export type BillOfMaterials = z.infer<typeof billSchema>;

/** Returns the references, such as `express@5.3.0`, of all packages that users of a release install. */
export async function listReleasedComponents(): Promise<ReadonlySet<string>> {
  const all = await readLockedPackages();
  const workspaces = publishedWorkspaces.map((folder) => [folder, all.get(folder)] as const);
  const released = [...workspaces, ...findProductionPackages(all)];
  return new Set(released.map(([path, entry]) => `${entry?.name ?? packageNameFromPath(path)}@${entry?.version}`));
}

/**
 * Removes the components that users do not install from a bill of materials. `npm sbom --omit dev` cannot be used instead, because this
 * command also removes packages that both the server and a test need, such as Express.
 * @throws {Error} if the bill lacks a component
 */
export function keepComponents(bill: unknown, kept: ReadonlySet<string>): BillOfMaterials {
  const { metadata, components, dependencies, ...rest } = billSchema.parse(bill);
  const listed = new Set(components.map((component) => component['bom-ref']));
  const missing = [...kept].filter((reference) => !listed.has(reference));
  if (missing.length > 0) throw new Error(`the bill of materials lacks ${missing.join(', ')}`);
  const root = metadata.component['bom-ref'];
  const name = root.slice(0, root.lastIndexOf('@')); // npm names the root after the repository folder
  return {
    ...rest,
    metadata: { ...metadata, component: { ...metadata.component, name } },
    components: components.filter((component) => kept.has(component['bom-ref'])),
    dependencies: dependencies
      .filter(({ ref }) => ref === root || kept.has(ref))
      .map((entry) => ({ ...entry, dependsOn: entry.dependsOn.filter((reference) => kept.has(reference)) })),
  };
}
