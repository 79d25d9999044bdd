import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { z } from 'zod';
import { arePatternsEquivalent } from './equivalent-patterns.ts';
import { mergeAlternatives } from './merge-alternatives.ts';

const run = promisify(execFile);
const root = join(import.meta.dirname, '../..');

const impacts = ['major', 'minor', 'patch'] as const;
export type Impact = (typeof impacts)[number];
export type ContractChange = { readonly impact: Impact; readonly path: string; readonly message: string };

const report = z.object({
  changes: z.array(
    z.object({
      path: z.string(),
      kind: z.string(),
      impact: z.enum(impacts),
      verdicts: z.array(z.object({ ruleId: z.string(), impact: z.enum(impacts), message: z.string() })),
      base: z.object({ pointer: z.string() }).optional(),
    }),
  ),
});

/**
 * Compares two OpenAPI documents and returns the impact of each change on existing clients. A change with the impact `major` breaks
 * clients.
 */
export async function compareDocuments(baseDocument: unknown, revisionDocument: unknown): Promise<ContractChange[]> {
  const [base, revision] = [baseDocument, revisionDocument].map((document) => mergeAlternatives(withoutListsOfOneType(document)));
  const directory = await mkdtemp(join(tmpdir(), 'mandate-contract-'));
  try {
    const files = [join(directory, 'base.json'), join(directory, 'revision.json')] as const;
    await writeFile(files[0], JSON.stringify(base));
    await writeFile(files[1], JSON.stringify(revision));
    const options = ['--config', join(root, 'redocly.yaml'), '--format', 'json', '--fail-on', 'none'];
    const { stdout } = await run(join(root, 'node_modules/.bin/redocly'), ['diff', ...files, ...options], {
      env: { PATH: `${join(root, 'node_modules/.bin')}:/usr/bin:/bin`, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' },
      maxBuffer: 64_000_000,
    });
    return [...changesIn(stdout, base, revision), ...lostCodes(base, revision)];
  } finally {
    await rm(directory, { recursive: true });
  }
}

/** Replaces each `type` list that has only one item with that item. Both forms are equivalent, but the comparison would report a change. */
function withoutListsOfOneType(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(withoutListsOfOneType);
  if (typeof node !== 'object' || node === null) return node;
  return Object.fromEntries(
    Object.entries(node).map(([key, value]) => [
      key,
      key === 'type' && Array.isArray(value) && value.length === 1 ? value[0] : withoutListsOfOneType(value),
    ]),
  );
}

const changesIn = (output: string, base: unknown, revision: unknown): ContractChange[] =>
  report.parse(JSON.parse(output)).changes.map(({ path, kind, impact, verdicts, base: before }) => {
    const worst = verdicts.find((verdict) => verdict.impact === impact);
    const isAnnounced =
      (worst?.ruleId === 'enum-values-added' && before !== undefined && isOpen(base, before.pointer)) ||
      (worst?.ruleId === 'schema-type-changed' && isNullOnlyInReplay(base, revision, path)) ||
      (worst?.message.startsWith('`pattern` ') === true && acceptsSameStrings(base, revision, path)) ||
      (worst?.message.startsWith('`format` ') === true && acceptsSameIntegers(base, revision, path));
    return { impact: isAnnounced ? 'minor' : impact, path, message: worst?.message ?? kind };
  });

/**
 * Returns whether the only change to a field's type is that the field can now be `null` in replays. Clients of the last release cannot
 * receive replays, because in that release the operation did not accept an `Idempotency-Key` header.
 */
function isNullOnlyInReplay(base: unknown, revision: unknown, path: string): boolean {
  const steps = stepsOf(path.slice(1));
  const acceptsKey = (document: unknown): boolean => {
    const parameters = z.array(z.record(z.unknown())).safeParse(nodeAt(document, [...steps.slice(0, 3), 'parameters'])).data ?? [];
    return parameters.some(({ name }) => name === 'Idempotency-Key');
  };
  const [before, after] = [base, revision].map((document) => fieldsOf(nodeAt(document, steps)));
  const isOnlyNull = [before?.['type'], 'null'].flat().join() === [after?.['type']].flat().join();
  return isOnlyNull && typeof after?.['x-null-in-replay'] === 'string' && acceptsKey(revision) && !acceptsKey(base);
}

/** Returns whether the pattern of a field or parameter has changed but still accepts the same strings. */
function acceptsSameStrings(base: unknown, revision: unknown, path: string): boolean {
  const steps = [...stepsOf(path.slice(1)), 'pattern'];
  return arePatternsEquivalent(nodeAt(base, stepsInBase(base, revision, steps)), nodeAt(revision, steps));
}

/** Returns whether the only change to a field or parameter is the format `int64`, which accepts every integer up to the field's maximum. */
function acceptsSameIntegers(base: unknown, revision: unknown, path: string): boolean {
  const steps = stepsOf(path.slice(1));
  const [before, after] = [nodeAt(base, stepsInBase(base, revision, [...steps, 'format'])), fieldsOf(nodeAt(revision, steps))];
  const { maximum, minimum } = after;
  const hasSafeRange = typeof maximum === 'number' && maximum <= Number.MAX_SAFE_INTEGER && typeof minimum === 'number' && minimum >= 0;
  return before === undefined && after['format'] === 'int64' && hasSafeRange;
}

/** Returns the reference tokens of the same node in the base document, where the parameters of an operation can have a different order. */
function stepsInBase(base: unknown, revision: unknown, steps: readonly string[]): readonly string[] {
  const index = steps.indexOf('parameters');
  if (index === -1) return steps;
  const name = fieldsOf(nodeAt(revision, steps.slice(0, index + 2)))['name'];
  const parameters = fieldsOf(nodeAt(base, steps.slice(0, index + 1)));
  const baseIndex = Object.keys(parameters).find((key) => fieldsOf(parameters[key])['name'] === name);
  return steps.with(index + 1, baseIndex ?? 'absent');
}

/** Returns whether the enumeration is declared open, that is, whether clients must expect more values. */
function isOpen(document: unknown, pointer: string): boolean {
  return fieldsOf(nodeAt(document, stepsOf(pointer).slice(0, -1)))['x-open-enum'] === true;
}

/** Splits a JSON Pointer (RFC 6901) into its reference tokens. */
const stepsOf = (pointer: string): string[] =>
  pointer
    .split('/')
    .slice(1)
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'));

/** Returns the node at these reference tokens in a document. Follows `$ref` references along the way. */
const nodeAt = (document: unknown, steps: readonly string[]): unknown =>
  steps.reduce<unknown>((node, step) => {
    const { $ref, ...fields } = fieldsOf(node);
    const target = typeof $ref === 'string' ? fieldsOf(nodeAt(document, stepsOf($ref))) : fields;
    return target[step];
  }, document);

/** Returns the fields of an object, or the items of an array by index. */
const fieldsOf = (node: unknown): Record<string, unknown> =>
  Array.isArray(node) ? Object.fromEntries(node.entries()) : (z.record(z.unknown()).safeParse(node).data ?? {});

/** Returns a breaking change for each removed problem code. Codes are not part of a schema, but must never be removed within a version. */
function lostCodes(base: unknown, revision: unknown): ContractChange[] {
  const left = new Set(problemCodesIn(revision));
  return [...new Set(problemCodesIn(base))]
    .filter((code) => !left.has(code))
    .map((code) => ({ impact: 'major', path: '#/paths', message: `No operation has the problem code \`${code}\`.` }));
}

function problemCodesIn(node: unknown): string[] {
  if (Array.isArray(node)) return node.flatMap(problemCodesIn);
  if (typeof node !== 'object' || node === null) return [];
  return Object.entries(node).flatMap(([key, value]) =>
    key === 'x-problem-codes' ? z.array(z.string()).parse(value) : problemCodesIn(value),
  );
}

/** Throws if the comparison fails to detect a removed path, because a broken comparison would accept every change. */
export async function assertComparisonWorks(document: unknown): Promise<void> {
  const { paths, ...rest } = z
    .object({ paths: z.record(z.unknown()) })
    .passthrough()
    .parse(document);
  const [removed] = Object.keys(paths);
  const found = await compareDocuments(document, {
    ...rest,
    paths: Object.fromEntries(Object.entries(paths).filter(([path]) => path !== removed)),
  });
  if (!found.some(({ impact }) => impact === 'major'))
    throw new Error(`the comparison does not work: it does not detect that ${removed} was removed`);
}
