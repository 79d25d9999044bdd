/** `npm run walkthrough` adds a workflow to the walkthrough for each resource with operations that no workflow calls yet. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';

const root = join(import.meta.dirname, '../..');
export const walkthroughFile = join(root, 'docs/walkthrough.arazzo.yaml');
export const contractFile = join(root, 'contract/openapi/openapi.json');

const operationSchema = z.object({
  operationId: z.string(),
  summary: z.string(),
  'x-internal': z.boolean().optional(),
  parameters: z.array(z.object({ name: z.string(), in: z.string() })).default([]),
  responses: z.record(z.unknown()),
});
const documentSchema = z.object({ paths: z.record(z.record(operationSchema)) });

type Operation = z.output<typeof operationSchema> & { readonly method: string; readonly path: string };

/** This workflow must remain the last one, because it revokes the token. */
const lastWorkflow = '  - workflowId: leave\n';

/** Returns the operations of the OpenAPI document that the walkthrough does not call. */
export function findMissingOperations(walkthrough: string, openApiDocument: string): Operation[] {
  const { paths } = documentSchema.parse(JSON.parse(openApiDocument));
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods)
      .map(([method, operation]) => ({ method, path, ...operation }))
      .filter((operation) => operation['x-internal'] !== true && !walkthrough.includes(operationPointer(operation))),
  );
}

/** Returns the walkthrough with steps for the given operations, in one workflow for each resource. */
export function addWorkflows(walkthrough: string, operations: readonly Operation[]): string {
  const resources = Map.groupBy(operations, ({ operationId }) => operationId.split('.')[0] ?? '');
  const workflows = [...resources].map(([resource, ofResource]) => workflow(walkthrough, resource, ofResource.toSorted(byDependency)));
  const index = walkthrough.indexOf(lastWorkflow);
  if (index === -1) throw new Error(`docs/walkthrough.arazzo.yaml does not contain the line ${lastWorkflow.trim()}`);
  return walkthrough.slice(0, index) + workflows.join('') + walkthrough.slice(index);
}

const operationPointer = ({ path, method }: Operation): string => `#/paths/${path.replaceAll('/', '~1')}/${method}'`;

/** Order of the methods in a workflow: a resource is created first and deleted last. */
const methodOrder = ['post', 'get', 'put', 'patch', 'delete'];
const byDependency = (a: Operation, b: Operation): number => methodOrder.indexOf(a.method) - methodOrder.indexOf(b.method);

function workflow(walkthrough: string, resource: string, operations: readonly Operation[]): string {
  const [first] = operations;
  const isNew = !walkthrough.includes(`  - workflowId: ${kebabCase(resource)}\n`);
  const created = operations.find(({ method, path }) => method === 'post' && !path.includes('{'));
  return `  - workflowId: ${kebabCase(resource)}${isNew || !first ? '' : `-${stepId(first)}`}
    summary: '${summaryOf(operations).replaceAll(`'`, `''`)}.'
    inputs: { type: object, properties: { token: { type: string } } }
    parameters:
      - { name: Authorization, in: header, value: 'Bearer {$inputs.token}' }
    steps:
${operations.map((operation) => step(operation, created)).join('')}`;
}

function step(operation: Operation, created: Operation | undefined): string {
  const id = stepId(operation);
  const pathParameter = created && operation.path.startsWith(`${created.path}/{`) && /\{(\w+)\}/.exec(operation.path)?.[1];
  const parameters = [
    ...(pathParameter && created ? [`{ name: ${pathParameter}, in: path, value: $steps.${stepId(created)}.outputs.id }`] : []),
    ...(operation.method === 'put' && acceptsIfMatch(operation) ? [`{ name: If-Match, in: header, value: '*' }`] : []),
  ];
  const status = Object.keys(operation.responses).find((each) => each.startsWith('2')) ?? '200';
  return [
    `      - stepId: ${id}`,
    `        operationPath: '{$sourceDescriptions.mandate.url}${operationPointer(operation)}`,
    ...(parameters.length > 0 ? ['        parameters:', ...parameters.map((parameter) => `          - ${parameter}`)] : []),
    '        successCriteria:',
    `          - condition: $statusCode == ${status}`,
    ...(operation === created ? ['        outputs:', '          id: $response.body#/id'] : []),
    '',
  ].join('\n');
}

const acceptsIfMatch = ({ parameters }: Operation): boolean => parameters.some(({ name }) => name === 'If-Match');
const stepId = ({ operationId }: Operation): string => kebabCase(operationId.split('.')[1] ?? operationId);
const summaryOf = (operations: readonly Operation[]): string =>
  operations.map(({ summary }, index) => (index === 0 ? summary : lowerFirst(summary))).join(', ');
const lowerFirst = (text: string): string => text.charAt(0).toLowerCase() + text.slice(1);
const kebabCase = (name: string): string => name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

if (import.meta.main) {
  const walkthrough = await readFile(walkthroughFile, 'utf8');
  const missing = findMissingOperations(walkthrough, await readFile(contractFile, 'utf8'));
  if (missing.length > 0) {
    await writeFile(walkthroughFile, addWorkflows(walkthrough, missing));
    process.stdout.write(`Added steps to docs/walkthrough.arazzo.yaml for ${missing.map(({ operationId }) => operationId).join(', ')}.\n`);
  }
}
